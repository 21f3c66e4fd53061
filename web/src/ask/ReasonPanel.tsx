/** Why something is an answer: drawn, as a table, and the next best assignments. */
import { useMemo } from "preact/hooks";
import type { Answer, Explanation, Reply } from "../api/types";
import { askState } from "../state/ask";
import { useStore } from "../state/store";
import { address, follow, go } from "../router";
import { Drawing } from "../drawing/Drawing";
import { explanationScene } from "../drawing/explanation-scene";
import { useAfter } from "../parts/hooks";
import { Problem } from "../parts/Problem";
import { ofAnswer, Standing } from "../parts/Standing";
import { Icon } from "../parts/Icon";
import { nameOf, number } from "../parts/text";
import { AtomTable, atomText, SubQueries } from "./AtomTable";

export function ReasonPanel({ name }: { name: string }) {
  const reason = useStore(askState, (it) => it.reasons.get(name));
  const reply = useStore(askState, (it) => it.reply);
  const answer = reply?.answers.find((it) => it.name === name);
  const slow = useAfter(reason?.state === "loading", 200);
  if (!answer) return null;
  return (
    <section class="panel reason" aria-labelledby="reason-title">
      <header>
        <h2 id="reason-title">why {nameOf(answer)}</h2>
        <span class="score" title={String(answer.score)}>{number(answer.score)}</span>
        <Standing {...ofAnswer(answer)} />
        <span class="space" />
        <a class="quiet" href={address("explore", { name: answer.name })} onClick={(event) => follow(event, "explore", { name: answer.name })}>
          <Icon name="compass" /> <span>explore</span>
        </a>
      </header>
      {reason?.state === "loading" && <div class={slow ? "skeleton tall shown" : "skeleton tall"}><span class="unseen">Looking for the reason…</span></div>}
      {reason?.state === "failed" && <Problem failure={reason.failure} />}
      {reason?.state === "there" && <Reason reply={reason.reply} name={name} />}
    </section>
  );
}

function Reason({ reply, name }: { reply: Reply; name: string }) {
  const answer: Answer | undefined = reply.answers.find((it) => it.name === name) ?? reply.answers[0];
  const explanation = answer?.explanation;
  const scene = useMemo(() => explanation && explanationScene(explanation, reply.target ?? null), [explanation]);
  if (!answer || !explanation || !scene) return <p class="hint">There is no assignment to show: the truth of this answer is 0.</p>;
  const entities = new Map(scene.nodes.map((node) => [node.id, node.entity]));
  return (
    <>
      <Drawing
        scene={scene} most={380} least={120}
        label={`The explanation as a graph: ${explanation.atoms.map(atomText).join(", ")}. The table below says the same.`}
        listener={{
          picked: (pick) => {
            const entity = pick?.kind === "node" ? entities.get(pick.id) : undefined;
            if (entity) go("explore", { name: entity });
          },
        }}
      />
      <Branches explanation={explanation} />
      <AtomTable atoms={explanation.atoms} />
      <SubQueries nested={explanation.sub_queries ?? []} />
      <Alternatives explanation={explanation} />
    </>
  );
}

/** Which alternative of an `or` carries the answer. */
function Branches({ explanation }: { explanation: Explanation }) {
  const { branch, branch_scores: scores, branches_open: open } = explanation;
  if (scores.length < 2) return null;
  return (
    <p class="branches">
      Alternative <b>{branch + 1}</b> of {scores.length} carries it:{" "}
      {scores.map((score, index) => (
        <span key={index} class={index === branch ? "chip on" : "chip"}>
          {open[index] ? (score > 0 ? `at least ${number(score)}` : "left open") : number(score)}
        </span>
      ))}
    </p>
  );
}

function Alternatives({ explanation }: { explanation: Explanation }) {
  const others = explanation.alternatives ?? [];
  if (!others.length) return null;
  const same = new Set(explanation.assignment.map((it) => `${it.variable}\n${it.value.id}`));
  return (
    <div class="alternatives">
      <h3>or by{!explanation.alternatives_certain && <small> of those looked at</small>}</h3>
      <ul>
        {others.map((other, index) => (
          <li key={index}>
            <span>
              {other.assignment.filter((it) => !same.has(`${it.variable}\n${it.value.id}`)).map((it, position) => (
                <span key={it.variable}>
                  {position > 0 && ", "}<var>{it.variable}</var> = <a href={address("explore", { name: it.value.name })} onClick={(event) => follow(event, "explore", { name: it.value.name })}>{nameOf(it.value)}</a>
                </span>
              ))}
            </span>
            <span class="score">{number(other.score)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
