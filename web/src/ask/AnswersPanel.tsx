/** The result of a question: answers, relations, a truth, a running search, a mistake, or nothing yet. */
import { useState } from "preact/hooks";
import type { Reply } from "../api/types";
import { askState } from "../state/ask";
import { useStore } from "../state/store";
import { Problem } from "../parts/Problem";
import { apply } from "./QuestionPanel";
import { AnswerTable } from "./AnswerTable";
import { Begin } from "./Begin";
import { certaintyText } from "./certainty";
import { JudgedView } from "./JudgedView";
import { PlanView } from "./PlanView";
import { ProgressView, StoppedView } from "./ProgressView";
import { RelationTable } from "./RelationTable";
import { Share } from "./Share";
import { duration, plural } from "../parts/text";

export function AnswersPanel({ beneath }: { beneath: boolean }) {
  const running = useStore(askState, (it) => it.running);
  const reply = useStore(askState, (it) => it.reply);
  const failure = useStore(askState, (it) => it.failure);
  const stopped = useStore(askState, (it) => it.stopped);
  const asked = useStore(askState, (it) => it.asked);
  if (running) return <ProgressView running={running} before={reply} />;
  if (failure) return <Problem failure={failure} source={asked?.question} onApply={apply} />;
  if (stopped) return <StoppedView progress={stopped} />;
  if (!reply) return <Begin />;
  return <ReplyView reply={reply} beneath={beneath} />;
}

function ReplyView({ reply, beneath }: { reply: Reply; beneath: boolean }) {
  const elapsed = useStore(askState, (it) => it.elapsed);
  const earlier = useStore(askState, (it) => it.question !== it.asked?.question);
  const [tab, setTab] = useState<"answers" | "plan">("answers");
  const names = { entities: "Answers", relations: "Relations", truth: "Truth" };
  return (
    <div class="panel reply">
      <div class="reply-head">
        <Tabs<"answers" | "plan"> tab={tab} onTab={setTab} tabs={[["answers", names[reply.asked]], ["plan", "Plan"]]} />
        <span class="space" />
        <Share />
      </div>
      <div id="tab-panel" role="tabpanel" aria-label={tab === "answers" ? names[reply.asked] : "Plan"}>
        {tab === "plan" ? <PlanView reply={reply} /> : <Found reply={reply} beneath={beneath} />}
      </div>
      <p class="summary">
        <b>{reply.shape}</b> · {certaintyText(reply.certainty)} · {plural(reply.rows, "row")} scored · {duration(elapsed)}
        {earlier && " · for the question before it was changed"}
      </p>
      {reply.unfinished_model && <p class="fine warn">The training of this model is not finished: {reply.unfinished_model}</p>}
      {reply.remarks?.map((text) => <p class="fine" key={text}>{text}</p>)}
    </div>
  );
}

function Found({ reply, beneath }: { reply: Reply; beneath: boolean }) {
  if (reply.judged) return <JudgedView judged={reply.judged} />;
  if (reply.relations?.length) return <RelationTable relations={reply.relations} />;
  if (reply.answers.length) return <AnswerTable reply={reply} beneath={beneath} />;
  const onlyNew = askState.get().asked?.new_only;
  return (
    <div class="empty">
      <h2>No answer</h2>
      <p>{onlyNew ? "Everything that fits is stored already. Untick “only what is new” to see it." : "Nothing in the graph, stored or predicted, makes this true."}</p>
    </div>
  );
}

function Tabs<T extends string>({ tab, onTab, tabs }: { tab: T; onTab(tab: T): void; tabs: [T, string][] }) {
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const now = tabs.findIndex(([id]) => id === tab);
    const next = tabs[(now + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length];
    if (!next) return;
    onTab(next[0]);
    (event.currentTarget as HTMLElement).querySelectorAll("button")[tabs.indexOf(next)]?.focus();
    event.preventDefault();
  };
  return (
    <div class="tabs" role="tablist" aria-label="What is shown of the reply" onKeyDown={keys}>
      {tabs.map(([id, text]) => (
        <button key={id} type="button" role="tab" aria-selected={id === tab} aria-controls="tab-panel" tabIndex={id === tab ? 0 : -1} onClick={() => onTab(id)}>{text}</button>
      ))}
    </div>
  );
}
