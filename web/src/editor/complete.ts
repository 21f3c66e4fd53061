/** Names from the graph where the cursor stands. */
import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { server } from "../api/client";
import { grouped } from "../parts/text";
import { bytesBefore, indexOfByte } from "./bytes";

export const completion = autocompletion({
  override: [candidates],
  icons: false,
  activateOnTyping: true,
  maxRenderedOptions: 50,
  closeOnBlur: true,
  aboveCursor: false,
});

async function candidates(context: CompletionContext): Promise<CompletionResult | null> {
  const text = context.state.doc.toString();
  // While typing, only where a word is being written.
  if (!context.explicit && !context.matchBefore(/[^\s(),]+[^(),]*$/u)) return null;
  const aborted = new AbortController();
  context.addEventListener("abort", () => aborted.abort());
  try {
    const found = await server.complete(text, bytesBefore(text, context.pos), aborted.signal);
    if (!found.candidates.length) return null;
    const options = found.candidates.map((it, index): Completion => ({
      label: it.shown,
      apply: it.replacement,
      detail: [it.kind === "keyword" ? "" : it.kind, it.edges == null ? "" : `${grouped(it.edges)} ${it.edges === 1 ? "edge" : "edges"}`]
        .filter(Boolean).join(" · "),
      // The server's order stays.
      boost: -index,
    }));
    return { from: indexOfByte(text, found.start), options, filter: false };
  } catch {
    return null;
  }
}
