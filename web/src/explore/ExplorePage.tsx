/** The graph: look a thing up, see its edges, ask from there. */
import { useEffect, useState } from "preact/hooks";
import { server } from "../api/client";
import type { Found, FoundName } from "../api/types";
import { address, follow, go, useRoute } from "../router";
import { relations, serverState } from "../state/server";
import { useStore } from "../state/store";
import { Combobox, type Option } from "../parts/Combobox";
import { useLoaded } from "../parts/hooks";
import { grouped, labelOf, nameOf, plural } from "../parts/text";
import { EntityView } from "./EntityView";

export function ExplorePage() {
  const { query } = useRoute();
  const name = query.get("name");
  const sought = query.get("text");
  const [text, setText] = useState(sought ?? "");
  useEffect(() => setText(sought ?? ""), [name, sought]);
  return (
    <main class="explore">
      <div class="search">
        <Combobox
          label="Search the graph" hideLabel placeholder="Search for a thing or a relation" value={text} autoFocus={!name}
          find={find} onInput={setText} onPick={(it) => go("explore", { name: it.key })} onEnter={(it) => it.trim() && go("explore", { text: it.trim() })}
        />
      </div>
      {name !== null ? <EntityView key={name} name={name} /> : sought ? <Results text={sought} /> : <Start />}
    </main>
  );
}

async function find(text: string, signal: AbortSignal): Promise<Option[]> {
  if (!text.trim()) return [];
  const found = await server.find(text.trim(), 8, signal);
  return [...found.entities, ...found.relations].slice(0, 12).map((it) => ({ key: it.name, text: it.text, detail: detail(it, found) }));
}

const detail = (it: FoundName, found: Found) => `${found.nearest ? "nearest " : ""}${it.kind} · ${plural(it.edges, "edge")}`;

function Results({ text }: { text: string }) {
  const loaded = useLoaded(() => server.find(text, 50), [text]);
  const found = loaded.value;
  if (!found) return <p class="hint" role="status">{loaded.state === "failed" ? loaded.failure.message : "Searching…"}</p>;
  const names = [...found.entities, ...found.relations];
  return (
    <section class="panel found">
      <h1>{found.nearest ? `Nothing is called “${text}”. The nearest names:` : `“${text}”`}</h1>
      {!names.length && <p class="hint">Nothing in the graph is called so.</p>}
      <ul>
        {names.map((it) => (
          <li key={it.kind + it.name}>
            <a href={address("explore", { name: it.name })} onClick={(event) => follow(event, "explore", { name: it.name })}>{nameOf(it)}</a>
            {labelOf(it) && <small> {labelOf(it)}</small>}
            <span class="fine">{it.kind} · {plural(it.edges, "edge")}</span>
          </li>
        ))}
      </ul>
      {found.entities_total > found.entities.length && <p class="fine">{grouped(found.entities_total)} things in all; write more of the name to see others.</p>}
    </section>
  );
}

/** Before anything is looked up: what the graph is made of. */
function Start() {
  const info = useStore(serverState, (it) => it.info);
  const loaded = useLoaded(relations, []);
  return (
    <section class="panel start">
      <h1>{info ? info.name : "The graph"}</h1>
      {info && <p class="hint">{plural(info.entities, "thing")}, {plural(info.relations, "relation")}, {plural(info.edges, "stored edge")}. Search for one above, or begin with a relation.</p>}
      <ul class="relation-list">
        {loaded.value?.slice(0, 60).map((it) => (
          <li key={it.name}>
            <a href={address("explore", { name: it.name })} onClick={(event) => follow(event, "explore", { name: it.name })}>{nameOf(it)}</a>
            <span class="fine">{grouped(it.edges)} · {it.cardinality}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
