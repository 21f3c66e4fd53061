/** How far a model can be believed: whether its truth values are probabilities, and which relations it knows well. */
import { useState } from "preact/hooks";
import { server } from "../api/client";
import type { Quality, RelationEvaluation } from "../api/types";
import { useLoaded } from "../parts/hooks";
import { Problem } from "../parts/Problem";
import { grouped, number } from "../parts/text";
import { Bar } from "../ask/AnswerTable";
import { Reliability } from "./Reliability";

/** Relations that are shown at first. */
const FIRST = 12;

export function QualityView({ name }: { name: string }) {
  const loaded = useLoaded(() => server.quality(name), [name]);
  if (loaded.state === "failed") {
    // A graph without validation edges is no fault, only a reason why there is nothing to show.
    return loaded.failure.kind === "lost" ? <Problem failure={loaded.failure} /> : <p class="hint">Its predictions could not be measured: {loaded.failure.message}</p>;
  }
  if (!loaded.value) return <div class="skeleton tall shown"><span class="unseen">Measuring on validation edges…</span></div>;
  return <Measured {...loaded.value} />;
}

function Measured({ links, reliability }: Quality) {
  const part = reliability.pairs < reliability.pairs_of_split ? `${grouped(reliability.pairs)} of ${grouped(reliability.pairs_of_split)}` : `all ${grouped(reliability.pairs)}`;
  return (
    <div class="columns">
      <div>
        <h2>Calibration</h2>
        <Reliability measured={reliability} />
      </div>
      <div>
        <h2>Relations by MRR</h2>
        <p class="fine">On {part} pairs of an entity and a relation with validation edges; an arrow says which end was to be found{links.evidence === "both" && ", with rules beside the model as when asking"}.</p>
        <Relations relations={links.relations} />
      </div>
    </div>
  );
}

function Relations({ relations }: { relations: RelationEvaluation[] }) {
  const [all, setAll] = useState(false);
  const sorted = [...relations].sort((a, b) => b.metrics.mrr - a.metrics.mrr || b.metrics.count - a.metrics.count);
  const shown = all ? sorted : sorted.slice(0, FIRST);
  return (
    <>
      <div class="scroll" role="region" aria-label="Relations by MRR" tabIndex={0}>
        <table class="ranking relations-by-mrr">
          <thead>
            <tr><th scope="col">relation</th><th scope="col" class="bar-head"><span class="unseen">MRR as a bar</span></th><th scope="col" class="score">MRR</th><th scope="col" class="score">Hits@10</th><th scope="col" class="score">edges</th></tr>
          </thead>
          <tbody>
            {shown.map((it) => (
              <tr key={`${it.relation} ${it.predicts}`}>
                <td class="name">{it.predicts === "heads" ? "← " : "→ "}<span class="unseen">{it.predicts} of </span>{it.text}</td>
                <td class="bar"><Bar value={it.metrics.mrr} kind="stored" /></td>
                <td class="score">{number(it.metrics.mrr)}</td>
                <td class="score">{number(it.metrics["hits@10"])}</td>
                <td class="score">{grouped(it.metrics.count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > FIRST && <button type="button" class="quiet small" onClick={() => setAll(!all)}>{all ? "show fewer" : `show all ${sorted.length}`}</button>}
    </>
  );
}
