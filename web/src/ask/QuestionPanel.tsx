/** The question in its three forms: text, drawing, examples. */
import { Editor, placeOf, type EditorHandle } from "../editor/Editor";
import { ask, askState, openQuestion, setQuestion, setSettings, stop } from "../state/ask";
import { forget, historyState } from "../state/history";
import { useStore } from "../state/store";
import { choices } from "../state/settings";
import { Popup } from "../parts/Popup";
import { Suggestions } from "../parts/Problem";
import { Icon } from "../parts/Icon";
import { QuestionDrawing } from "../drawing/QuestionDrawing";
import type { Suggestion } from "../api/types";
import { SettingsDrawer } from "./SettingsDrawer";
import { useMemo, useRef, useState } from "preact/hooks";

interface Props { onAsk(): void; onLeave(): void; onHandle(handle: EditorHandle): void }

export function QuestionPanel({ onAsk, onLeave, onHandle }: Props) {
  const question = useStore(askState, (it) => it.question);
  const check = useStore(askState, (it) => it.check);
  const checked = useStore(askState, (it) => it.checked);
  const settings = useStore(askState, (it) => it.settings);
  const running = useStore(askState, (it) => it.running !== null);
  const [drawer, setDrawer] = useState(false);
  // Notes are shown with the plan only, because they need no correction.
  const diagnostics = useMemo(() => (check?.diagnostics ?? []).filter((it) => it.severity === "error"), [check]);
  const count = choices(settings);
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => {
    setDrawer(false);
    opener.current?.focus();
  };
  return (
    <section class="question panel" aria-label="Question">
      <Editor
        text={question} diagnostics={diagnostics} checked={checked} onChange={setQuestion} onAsk={onAsk} onLeave={onLeave}
        onHandle={onHandle} autoFocus={!matchMedia("(pointer: coarse)").matches}
      />
      <Mistakes />
      <QuestionDrawing />
      <div class="toolbar">
        {running
          ? <button type="button" class="main stop" onClick={stop}>Stop <kbd>Esc</kbd></button>
          : <button type="button" class="main" onClick={onAsk} disabled={!question.trim()}>Ask <kbd>⏎</kbd></button>}
        <label class="switch">
          <input type="checkbox" checked={settings.new_only ?? false} onChange={(event) => filter(event.currentTarget.checked)} />
          only what is new
        </label>
        <span class="space" />
        <Examples />
        <Asked />
        <button type="button" class="quiet" ref={opener} aria-expanded={drawer} onClick={() => setDrawer(!drawer)} onKeyDown={(event) => drawer && event.key === "Escape" && (event.preventDefault(), event.stopPropagation(), close())}>
          <Icon name="sliders" /> <span>Settings{count ? ` (${count})` : ""}</span>
        </button>
      </div>
      {drawer && <SettingsDrawer onClose={close} />}
    </section>
  );
}

/** Filters answers; if there are answers already, it is applied at once. */
function filter(newOnly: boolean) {
  const { settings, reply, question, asked } = askState.get();
  setSettings({ ...settings, new_only: newOnly });
  if (reply && asked?.question === question) void ask();
}

/** The first mistake in words, with its suggestions, below the line that it is in. */
function Mistakes() {
  const question = useStore(askState, (it) => it.question);
  const check = useStore(askState, (it) => it.check);
  const checked = useStore(askState, (it) => it.checked);
  const told = useStore(askState, (it) => Boolean(it.failure?.problem.diagnostics?.length) && it.asked?.question === it.question);
  // If the question was asked anyway, the full message is shown below.
  const found = checked === question && !told ? (check?.diagnostics ?? []).filter((it) => it.severity === "error") : [];
  const [first, ...others] = found;
  return (
    <div class="mistakes" role="status">
      {first && (
        <p>
          <span>{first.message}{others.length > 0 && ` (and ${others.length} more)`}</span>
          {!first.suggestions?.length && first.help.map((text) => <span class="fine" key={text}>{text}</span>)}
          <Suggestions diagnostic={first} onApply={apply} hint="Alt ⏎" />
        </p>
      )}
    </div>
  );
}

export function apply(suggestion: Suggestion) {
  const text = askState.get().checked;
  const { from, to } = placeOf(text, suggestion);
  setQuestion(text.slice(0, from) + suggestion.replacement + text.slice(to), true);
}

function Examples() {
  const examples = useStore(askState, (it) => it.examples);
  return (
    <Popup label="Examples" icon="bulb" side="right" disabled={!examples?.length}>
      {(close) => (
        <ul class="choices">
          {examples?.map((it) => (
            <li key={it.question}>
              <button type="button" onClick={() => (openQuestion(it.question, true), close())}>
                <span>{it.title}</span><small class="mono">{it.question}</small>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Popup>
  );
}

function Asked() {
  const asked = useStore(historyState, (it) => it.asked);
  return (
    <Popup label="History" icon="clock" side="right" disabled={!asked.length}>
      {(close) => (
        <>
          <ul class="choices">
            {asked.map((it) => (
              <li key={it.at}>
                <button type="button" onClick={() => (openQuestion(it.question, true, it.settings), close())}>
                  <span class="mono">{it.question}</span><small>{new Date(it.at).toLocaleString()}</small>
                </button>
              </li>
            ))}
          </ul>
          <button type="button" class="quiet forget" onClick={() => (forget(), close())}>Forget all</button>
        </>
      )}
    </Popup>
  );
}
