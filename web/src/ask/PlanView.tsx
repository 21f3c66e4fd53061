/** How the question was answered, and what is proven. */
import type { Plan, PlanBranch, PlanFactor, PlanTerm, Reply } from "../api/types";
import { server } from "../api/client";
import { askState } from "../state/ask";
import { useLoaded } from "../parts/hooks";
import { Problem } from "../parts/Problem";
import { grouped, plural } from "../parts/text";
import { certaintyMeaning, certaintyText } from "./certainty";

export function PlanView({ reply }: { reply: Reply }) {
  const asked = askState.get().asked;
  const loaded = useLoaded(async () => (asked ? await server.plan(asked) : null), [asked]);
  const settings = reply.settings;
  return (
    <div class="plan">
      <h2>What is proven</h2>
      <p><b>{certaintyText(reply.certainty)}.</b> {certaintyMeaning(reply.certainty)}</p>
      <h2>How it was understood</h2>
      <pre tabIndex={0} aria-label="The question as it was understood">{reply.question}</pre>
      {loaded.state === "failed" && <Problem failure={loaded.failure} />}
      {loaded.value?.normal_form && loaded.value.normal_form !== reply.question && (
        <><h2>In disjunctive normal form</h2><pre tabIndex={0} aria-label="The normal form">{loaded.value.normal_form}</pre></>
      )}
      {loaded.value?.plan && <Steps plan={loaded.value.plan} />}
      {loaded.value && loaded.value.diagnostics.length > 0 && (
        <><h2>Worth knowing</h2><ul class="notes">{loaded.value.diagnostics.map((it) => <li key={it.message}>{it.message}</li>)}</ul></>
      )}
      <h2>Settings that ran{settings.tuned_for && `, tuned for ${settings.tuned_for}`}</h2>
      <dl class="pairs">
        {Object.entries({
          model: settings.model, search: reply.method, and: settings.t_norm, calibration: settings.calibration, "stored edges": settings.known,
          "wrong kinds": settings.unseen, sharpness: settings.sharpness, "negation scale": settings.negation_scale, or: settings.union,
          ...(settings.k ? { beam: settings.k } : {}),
        }).map(([key, value]) => <div key={key}><dt>{key}</dt><dd>{typeof value === "number" ? Math.round(value * 1000) / 1000 : value}</dd></div>)}
      </dl>
    </div>
  );
}

function Steps({ plan }: { plan: Plan }) {
  return (
    <>
      <h2>Steps <small>about {plural(Math.ceil(plan.rows), "row")}, {plan.tree ? "a tree: exact search can run all of it" : "no tree: a beam carries the shared variables"}</small></h2>
      {plan.branches.map((branch, index) => (
        <div key={index}>
          {plan.branches.length > 1 && <h3>alternative {index + 1}</h3>}
          <Branch branch={branch} />
        </div>
      ))}
    </>
  );
}

function Branch({ branch }: { branch: PlanBranch }) {
  return (
    <ol class="steps">
      {branch.steps.map((step) => (
        <li key={step.variable}>
          <var>{step.variable}</var> from{" "}
          {step.factors.map((it, index) => <span key={index}>{index > 0 && " and "}<code>{factorText(it)}</code></span>)}
          <small> about {grouped(Math.max(1, step.candidates))} {step.candidates > 1 ? "values" : "value"}, {plural(Math.ceil(step.rows), "row")}{step.beam ? `, keeps ${grouped(step.beam)}` : ""}</small>
        </li>
      ))}
      {branch.negated.map((it, index) => <li key={`not${index}`}><b class="not">not</b><Branch branch={it} /></li>)}
    </ol>
  );
}

const termText = (term: PlanTerm): string => ("entity" in term ? term.entity : term.variable);

function factorText(factor: PlanFactor): string {
  switch (factor.kind) {
    case "row": {
      const relation = factor.backwards ? `${factor.relation}⁻¹` : factor.relation;
      return `${factor.negated ? "not " : ""}${relation}(${termText(factor.from)}, ·)`;
    }
    case "loop":
      return `${factor.negated ? "not " : ""}${factor.relation} with itself`;
    case "negated":
      return `the negated part ${factor.index + 1}`;
  }
}
