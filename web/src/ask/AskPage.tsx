/** The first view: a question, its answers, and why. */
import { useEffect, useRef } from "preact/hooks";
import { askState, ask, restore, select, stop } from "../state/ask";
import { useStore } from "../state/store";
import { onRoute } from "../router";
import { useMedia } from "../parts/hooks";
import type { EditorHandle } from "../editor/Editor";
import { QuestionPanel } from "./QuestionPanel";
import { AnswersPanel } from "./AnswersPanel";
import { Guide } from "./Guide";
import { ReasonPanel } from "./ReasonPanel";

export function AskPage() {
  const wide = useMedia("(min-width: 960px)");
  const selected = useStore(askState, (it) => it.selected);
  const hasAnswers = useStore(askState, (it) => Boolean(it.reply?.answers.length));
  const editor = useRef<EditorHandle | null>(null);
  const answers = useRef<HTMLElement>(null);

  useEffect(() => {
    restore();
    return onRoute(restore);
  }, []);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => handleKey(event, answers.current, editor.current);
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);

  return (
    <main class={wide ? "ask two" : "ask"}>
      <div class="ask-left">
        <h1 class="unseen">Ask</h1>
        <QuestionPanel
          onAsk={() => void ask()}
          onHandle={(handle) => (editor.current = handle)}
          onLeave={() => (askState.get().running ? stop() : buttons(answers.current)[0]?.focus())}
        />
        <section class="answers" ref={answers} aria-label="Answers"><AnswersPanel beneath={!wide} /></section>
      </div>
      {wide && (
        <aside class="ask-right" aria-label={selected ? "Explanation" : "How to ask"}>
          {selected ? <ReasonPanel name={selected} /> : <Guide answered={hasAnswers} />}
        </aside>
      )}
    </main>
  );
}

const buttons = (panel: HTMLElement | null) => [...(panel?.querySelectorAll<HTMLButtonElement>("button.answer-name") ?? [])];

/** The arrow keys move through the answers, unless a field has the focus. */
function handleKey(event: KeyboardEvent, panel: HTMLElement | null, editor: EditorHandle | null) {
  const target = event.composedPath()[0] as HTMLElement;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") {
    if (askState.get().running) stop();
    else if (!isField(target)) select(null);
    return;
  }
  if (isField(target) || target.closest(".popup-panel, .drawer, .tabs, .menu")) return;
  const rows = buttons(panel);
  const now = rows.indexOf(document.activeElement as HTMLButtonElement);
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const next = rows[event.key === "ArrowDown" ? now + 1 : now < 0 ? rows.length - 1 : now - 1];
    if (!next && event.key === "ArrowUp" && now === 0) editor?.focus();
    next?.focus();
    if (rows.length) event.preventDefault();
  } else if (event.key === "ArrowRight" && now >= 0) {
    rows[now]?.dataset.name !== undefined && select(rows[now]?.dataset.name ?? null);
    event.preventDefault();
  } else if (event.key === "ArrowLeft" && now >= 0) {
    select(null);
    event.preventDefault();
  } else if (event.key === "/") {
    editor?.focus();
    event.preventDefault();
  }
}

function isField(element: HTMLElement): boolean {
  return element.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(element.tagName);
}
