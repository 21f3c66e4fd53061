/** One model: its metrics, its training curve and its settings. */
import { server } from "../api/client";
import { useLoaded } from "../parts/hooks";
import { Problem } from "../parts/Problem";
import { grouped, number, predictor } from "../parts/text";
import { Curve } from "./Curve";
import { QualityView } from "./QualityView";

export function ModelView({ name }: { name: string }) {
  const loaded = useLoaded(() => server.model(name), [name]);
  if (loaded.state === "failed") return <Problem failure={loaded.failure} />;
  if (!loaded.value) return <div class="skeleton tall shown"><span class="unseen">Loading…</span></div>;
  const { summary, card, tuned } = loaded.value;
  const valid = summary.valid ?? card?.valid;
  return (
    <section class="panel" aria-labelledby="model-title">
      <h1 id="model-title">{name}</h1>
      {valid && (
        <dl class="figures">
          <Figure name="MRR" value={number(valid.mrr)} />
          {["Hits@1", "Hits@3", "Hits@10"].map((text, index) => <Figure key={text} name={text} value={number(valid.hits[index] ?? 0)} />)}
          <Figure name="predictions on validation" value={grouped(valid.count)} />
        </dl>
      )}
      <div class="columns">
        <div>
          <h2>Training curve</h2>
          {card?.curve.length ? <Curve points={card.curve} /> : <p class="hint">It was not trained here, so there is no curve.</p>}
        </div>
        <div>
          <h2>Settings</h2>
          <dl class="pairs">
            {card && Object.entries({ predictor: predictor(card.model), rank: card.rank, epoch: card.epoch, origin: card.origin, ...flat(card.training) }).map(([key, value]) => (
              <div key={key}><dt>{key}</dt><dd>{String(value)}</dd></div>
            ))}
            <div><dt>calibrated</dt><dd>{[summary.fitted && "fitted", summary.calibrated && "adaptive"].filter(Boolean).join(", ") || "no"}</dd></div>
          </dl>
        </div>
      </div>
      <QualityView key={name} name={name} />
      {Object.keys(tuned).length > 0 && (
        <>
          <h2>Tuned by shape of question</h2>
          <dl class="pairs wide">{Object.entries(tuned).map(([shape, text]) => <div key={shape}><dt>{shape}</dt><dd class="mono">{text}</dd></div>)}</dl>
        </>
      )}
    </section>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return <div><dt>{name}</dt><dd>{value}</dd></div>;
}

/** Settings within settings, their names joined by dots. */
function flat(value: unknown, before = ""): Record<string, string> {
  if (value === null || value === undefined) return {};
  // Numbers are stored with 32 bits, so more digits would be meaningless.
  if (typeof value === "number") return { [before]: String(Number(value.toPrecision(6))) };
  if (typeof value !== "object") return { [before]: String(value) };
  const entries = Object.entries(value).filter(([key]) => key !== "model" && key !== "rank").map(([key, inner]) => flat(inner, before ? `${before}.${key}` : key.replaceAll("_", " ")));
  return Object.assign({}, ...entries) as Record<string, string>;
}
