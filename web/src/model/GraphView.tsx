/** The sizes of the graph, its degrees and relations. */
import { useMemo, useState } from "preact/hooks";
import { server } from "../api/client";
import type { RelationStats, Spread } from "../api/types";
import { address, follow } from "../router";
import { useLoaded } from "../parts/hooks";
import { Problem } from "../parts/Problem";
import { grouped, labelOf, nameOf } from "../parts/text";

export function GraphView() {
  const loaded = useLoaded(() => server.graph(), []);
  if (loaded.state === "failed") return <Problem failure={loaded.failure} />;
  const graph = loaded.value;
  if (!graph) return <div class="skeleton tall shown"><span class="unseen">Loading…</span></div>;
  const degrees: [string, Spread][] = [["all edges", graph.degree], ["leading out", graph.out_degree], ["leading in", graph.in_degree]];
  return (
    <section class="panel" aria-labelledby="graph-title">
      <h1 id="graph-title">Graph</h1>
      <dl class="figures">
        {Object.entries({ things: graph.entities, relations: graph.relations, "training edges": graph.edges.train, validation: graph.edges.valid, test: graph.edges.test, "things without training edge": graph.entities_without_train_edge }).map(([name, value]) => (
          <div key={name}><dt>{name}</dt><dd>{grouped(value)}</dd></div>
        ))}
      </dl>
      <h2>Relations</h2>
      <Relations relations={graph.by_relation} />
      <h2>Edges of a thing</h2>
      <div class="scroll" role="region" aria-label="Edges of a thing" tabIndex={0}>
        <table class="facts">
          <thead><tr><th scope="col">edges</th>{["mean", "least", "25%", "median", "75%", "90%", "99%", "most"].map((it) => <th scope="col" class="score" key={it}>{it}</th>)}</tr></thead>
          <tbody>
            {degrees.map(([name, it]) => (
              <tr key={name}>
                <th scope="row">{name}</th><td class="score">{it.mean.toFixed(1)}</td>
                {[it.min, it.q25, it.median, it.q75, it.q90, it.q99, it.max].map((value, index) => <td class="score" key={index}>{grouped(value)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {graph.sources.length > 0 && <p class="fine">Read from {graph.sources.map((it) => `${it.name} (${it.format}, ${grouped(it.triples)})`).join(", ")}.</p>}
    </section>
  );
}

type Column = "text" | "edges" | "heads" | "tails" | "tails_per_head" | "heads_per_tail" | "cardinality";
const COLUMNS: [Column, string][] = [["text", "relation"], ["edges", "edges"], ["heads", "heads"], ["tails", "tails"], ["tails_per_head", "tails a head"], ["heads_per_tail", "heads a tail"], ["cardinality", "kind"]];
const FIRST = 25;

function Relations({ relations }: { relations: RelationStats[] }) {
  const [by, setBy] = useState<{ column: Column; up: boolean }>({ column: "edges", up: false });
  const [all, setAll] = useState(false);
  const sorted = useMemo(() => {
    const compare = (a: RelationStats, b: RelationStats) => {
      const [one, other] = [a[by.column], b[by.column]];
      return typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other));
    };
    return [...relations].sort((a, b) => (by.up ? compare(a, b) : compare(b, a)));
  }, [relations, by]);
  const shown = all ? sorted : sorted.slice(0, FIRST);
  return (
    <>
      <div class="scroll">
        <table class="facts">
          <thead>
            <tr>
              {COLUMNS.map(([column, text]) => (
                <th key={column} scope="col" class={column === "text" || column === "cardinality" ? undefined : "score"} aria-sort={by.column === column ? (by.up ? "ascending" : "descending") : undefined}>
                  <button type="button" class="sort" onClick={() => setBy({ column, up: by.column === column ? !by.up : column === "text" })}>{text}</button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((it) => (
              <tr key={it.name}>
                <td><a href={address("explore", { name: it.name })} onClick={(event) => follow(event, "explore", { name: it.name })}>{nameOf(it)}</a>{labelOf(it) && <small> {labelOf(it)}</small>}</td>
                <td class="score">{grouped(it.edges)}</td><td class="score">{grouped(it.heads)}</td><td class="score">{grouped(it.tails)}</td>
                <td class="score">{it.tails_per_head.toFixed(1)}</td><td class="score">{it.heads_per_tail.toFixed(1)}</td><td>{it.cardinality}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > FIRST && <button type="button" class="quiet small" onClick={() => setAll(!all)}>{all ? "Fewer" : `All ${grouped(sorted.length)}`}</button>}
    </>
  );
}
