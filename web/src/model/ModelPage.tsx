/** What the engine holds: its models and its graph. */
import { useState } from "preact/hooks";
import { server } from "../api/client";
import type { ModelSummary } from "../api/types";
import { address, follow, go, useRoute } from "../router";
import { loadInfo } from "../state/server";
import { useLoaded } from "../parts/hooks";
import { say } from "../parts/notice";
import { Problem } from "../parts/Problem";
import { age, bytes, number, predictor } from "../parts/text";
import { GraphView } from "./GraphView";
import { ModelView } from "./ModelView";

export function ModelPage() {
  const { query } = useRoute();
  const [round, setRound] = useState(0);
  const loaded = useLoaded(() => server.models(), [round]);
  if (loaded.state === "failed") return <main class="model"><Problem failure={loaded.failure} /></main>;
  const models = loaded.value;
  if (!models) return <main class="model"><div class="skeleton tall shown"><span class="unseen">Loading…</span></div></main>;
  const name = query.get("name") ?? models.default;
  const choose = async (model: string) => {
    try {
      await server.chooseModel(model);
      say(`${model} answers from now on, until the server ends`);
      setRound(round + 1);
      await loadInfo();
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <main class="model">
      <section class="panel" aria-labelledby="models-title">
        <h1 id="models-title">Models</h1>
        {!models.models.length && <p class="hint">There is no model yet. Train one: <code>relatum train DIR</code></p>}
        {models.models.length > 0 && (
          <div class="scroll">
            <table class="facts">
              <thead>
                <tr><th scope="col">name</th><th scope="col">predictor</th><th scope="col" class="score">rank</th><th scope="col" class="score">valid MRR</th><th scope="col" class="score">Hits@10</th><th scope="col" class="score">size</th><th scope="col">written</th><th scope="col">in use</th></tr>
              </thead>
              <tbody>
                {models.models.map((it) => <Row key={it.name} model={it} current={it.name === models.default} shown={it.name === name} onChoose={() => void choose(it.name)} />)}
              </tbody>
            </table>
          </div>
        )}
      </section>
      {models.models.some((it) => it.name === name) && <ModelView key={name} name={name} />}
      <GraphView />
    </main>
  );
}

function Row({ model, current, shown, onChoose }: { model: ModelSummary; current: boolean; shown: boolean; onChoose(): void }) {
  return (
    <tr class={shown ? "selected" : undefined} onClick={() => go("model", { name: model.name })}>
      <td><a href={address("model", { name: model.name })} aria-current={shown ? "true" : undefined} onClick={(event) => (event.stopPropagation(), follow(event, "model", { name: model.name }))}>{model.name}</a></td>
      <td>{model.predictor ? predictor(model.predictor) : "—"}{model.unfinished && <small> {model.unfinished}</small>}{model.error && <small class="wrong"> {model.error}</small>}</td>
      <td class="score">{model.rank ?? "—"}</td>
      <td class="score">{model.valid ? number(model.valid.mrr) : "—"}</td>
      <td class="score">{model.valid?.hits[2] === undefined ? "—" : number(model.valid.hits[2])}</td>
      <td class="score">{bytes(model.bytes)}</td>
      <td>{model.age_seconds == null ? "—" : age(model.age_seconds)}</td>
      <td>{current ? <span class="chip on">answers</span> : <button type="button" class="quiet small" disabled={!model.predictor} onClick={(event) => (event.stopPropagation(), onChoose())}>let it answer</button>}</td>
    </tr>
  );
}
