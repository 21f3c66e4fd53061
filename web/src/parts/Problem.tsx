/** What went wrong, where, and what to do. */
import type { Failure } from "../api/client";
import type { Diagnostic, Suggestion } from "../api/types";

interface Props {
  failure: Failure;
  /** The text that the places refer to. */
  source?: string;
  onApply?(suggestion: Suggestion): void;
}

export function Problem({ failure, source, onApply }: Props) {
  const { problem } = failure;
  const diagnostics = problem.diagnostics ?? [];
  return (
    <section class="problem" role="alert">
      <h2>{failure.kind === "lost" ? "The server does not answer" : problem.title}</h2>
      {failure.kind === "lost" && <p>The page tries again by itself. Is <code>relatum serve</code> still running?</p>}
      {diagnostics.length > 0
        ? diagnostics.map((it, index) => <Mistake key={index} diagnostic={it} source={source ?? ""} onApply={onApply} />)
        : problem.detail && problem.detail !== problem.title && <p>{problem.detail}</p>}
      {problem.remedy && <p class="remedy">{problem.remedy}</p>}
      {problem.request_id && <p class="fine">Request {problem.request_id}</p>}
    </section>
  );
}

/** How many letters of a line are shown before and after its mistake: what is marked must be visible on a phone, too. */
const BEFORE = 16;
const AFTER = 48;

/** The part of a line around its mistake. */
function around(line: string, span: { start: { line: number; column: number }; end: { line: number; column: number } }) {
  const letters = [...line];
  const [from, to] = [span.start.column - 1, span.end.line === span.start.line ? span.end.column - 1 : letters.length];
  const cut = from > BEFORE + 2 ? from - BEFORE : 0;
  const rest = letters.slice(to);
  return {
    before: cut ? `… ${letters.slice(cut, from).join("").trimStart()}` : letters.slice(0, from).join(""),
    marked: letters.slice(from, to).join(""),
    after: rest.length > AFTER ? `${rest.slice(0, AFTER - 2).join("")} …` : rest.join(""),
  };
}

/** The line with a caret under the place, as in a terminal, and the suggestions as buttons. */
export function Mistake({ diagnostic, source, onApply }: { diagnostic: Diagnostic; source: string; onApply?(suggestion: Suggestion): void }) {
  const label = diagnostic.labels[0];
  const line = label ? source.split("\n")[label.span.start.line - 1] : undefined;
  const { before, marked, after } = label && line !== undefined ? around(line, label.span) : { before: "", marked: "", after: "" };
  return (
    <div class="mistake">
      <p class="mistake-text">{diagnostic.message}</p>
      {label && line !== undefined && (
        <pre class="mistake-line" tabIndex={0} aria-label={`Line ${label.span.start.line}, column ${label.span.start.column}`}>
          {before}<mark>{marked || " "}</mark>{after}
          {"\n"}<span class="caret">{" ".repeat([...before].length)}{"^".repeat(Math.max(1, [...marked].length))}</span>
        </pre>
      )}
      {label?.text && <p class="caret">{label.text}</p>}
      {diagnostic.help.map((text) => <p class="fine" key={text}>{text}</p>)}
      <Suggestions diagnostic={diagnostic} onApply={onApply} hint="Alt ⏎" />
    </div>
  );
}

export function Suggestions({ diagnostic, onApply, hint }: { diagnostic: Diagnostic; onApply?(suggestion: Suggestion): void; hint?: string }) {
  if (!onApply || !diagnostic.suggestions?.length) return null;
  return (
    <span class="suggestions">
      {diagnostic.suggestions.slice(0, 4).map((it, index) => (
        <button type="button" key={it.replacement} class="suggestion" onClick={() => onApply(it)}>
          <span>use</span> <code>{it.replacement}</code>{hint && index === 0 && <kbd>{hint}</kbd>}
        </button>
      ))}
    </span>
  );
}
