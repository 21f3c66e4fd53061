/**
 * The editor of a question.
 *
 * It lives in a shadow root: there CodeMirror's rules are adopted style sheets, which a Content-Security-Policy without
 * 'unsafe-inline' and without a nonce allows.
 */
import { useEffect, useRef } from "preact/hooks";
import { closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap, completionStatus } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { setDiagnostics, type Diagnostic as Underline } from "@codemirror/lint";
import { Annotation, EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, keymap, placeholder } from "@codemirror/view";
import type { Diagnostic, Suggestion } from "../api/types";
import { indexOfByte } from "./bytes";
import { completion } from "./complete";
import { colours, questionLanguage } from "./language";
import { look } from "./look";

export interface EditorHandle { focus(): void }

interface Props {
  text: string;
  /** The mistakes of `checked`, which may be older than the text while somebody types. */
  diagnostics: Diagnostic[];
  checked: string;
  onChange(text: string): void;
  onAsk(): void;
  /** Called for Escape if no list is open. */
  onLeave(): void;
  onHandle?(handle: EditorHandle): void;
  autoFocus: boolean;
}

export function Editor(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  // Text that was typed and has not come back as `text` yet: while somebody types, `text` is older than the editor's.
  const typed = useRef<string[]>([]);

  useEffect(() => {
    if (!host.current) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open", delegatesFocus: true });
    const made = new EditorView({ parent: root, root, state: stateOf(latest.current.text, () => latest.current, (text) => typed.current.push(text)) });
    view.current = made;
    if (latest.current.autoFocus) made.focus();
    latest.current.onHandle?.({ focus: () => made.focus() });
    return () => {
      view.current = null;
      made.destroy();
    };
  }, []);

  useEffect(() => {
    const made = view.current;
    const own = typed.current.indexOf(props.text);
    if (own >= 0) typed.current.splice(0, own + 1);
    if (!made || own >= 0 || made.state.doc.toString() === props.text) return;
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: props.text }, selection: { anchor: props.text.length }, annotations: fromOutside.of(true) });
  }, [props.text]);

  useEffect(() => {
    const made = view.current;
    if (!made || made.state.doc.toString() !== props.checked) return;
    made.dispatch(setDiagnostics(made.state, props.diagnostics.flatMap((it) => underline(props.checked, it))));
  }, [props.diagnostics, props.checked, props.text]);

  return <div class="editor" ref={host} />;
}

/** Marks a change that the page made, not a person who types. */
const fromOutside = Annotation.define<boolean>();

function stateOf(text: string, props: () => Props, onTyped: (text: string) => void): EditorState {
  const ask = (view: EditorView) => {
    // Completions that are still on their way would open over the answers and take the next Escape.
    closeCompletion(view);
    props().onAsk();
    return true;
  };
  const atEnd = (view: EditorView) => {
    const { from, empty } = view.state.selection.main;
    return empty && view.state.sliceDoc(from).trim() === "" && view.state.doc.toString().trim() !== "";
  };
  return EditorState.create({
    doc: text,
    extensions: [
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      EditorView.lineWrapping,
      questionLanguage,
      colours,
      look,
      completion,
      placeholder('?X : relation("a name", X)'),
      EditorView.contentAttributes.of({ "aria-label": "Question", "aria-multiline": "true", spellcheck: "false", autocapitalize: "off" }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged || update.transactions.some((it) => it.annotation(fromOutside))) return;
        const text = update.state.doc.toString();
        onTyped(text);
        props().onChange(text);
      }),
      Prec.highest(keymap.of([
        { key: "Mod-Enter", run: ask },
        { key: "Alt-Enter", run: (view) => applySuggestion(view, props(), false) },
        { key: "Tab", run: (view) => completionStatus(view.state) === null && applySuggestion(view, props(), true) },
      ])),
      keymap.of([
        ...completionKeymap,
        { key: "Enter", run: (view) => atEnd(view) && ask(view) },
        {
          key: "Escape",
          run: () => {
            props().onLeave();
            return true;
          },
        },
        ...closeBracketsKeymap,
        ...defaultKeymap.filter((binding) => binding.key !== "Mod-Enter" && binding.key !== "Alt-Enter"),
        ...historyKeymap,
      ]),
    ],
  });
}

/** Applies the first suggestion; with `here`, only one for the place of the cursor. */
function applySuggestion(view: EditorView, { diagnostics, checked }: Props, here: boolean): boolean {
  const text = view.state.doc.toString();
  if (text !== checked) return false;
  const cursor = view.state.selection.main.head;
  const all = diagnostics.flatMap((it) => it.suggestions ?? []);
  const found = all.find((it) => {
    const { from, to } = placeOf(text, it);
    return !here || (cursor >= from && cursor <= to);
  });
  if (!found) return false;
  const { from, to } = placeOf(text, found);
  view.dispatch({ changes: { from, to, insert: found.replacement }, selection: { anchor: from + found.replacement.length } });
  return true;
}

export const placeOf = (text: string, { span }: Suggestion) => ({
  from: indexOfByte(text, span.start.byte),
  to: indexOfByte(text, span.end.byte),
});

function underline(text: string, diagnostic: Diagnostic): Underline[] {
  const [first] = diagnostic.labels;
  if (!first) return [];
  const from = indexOfByte(text, first.span.start.byte);
  const to = Math.min(text.length, Math.max(indexOfByte(text, first.span.end.byte), from));
  return [{
    from,
    to,
    severity: diagnostic.severity === "error" ? "error" : "info",
    message: [diagnostic.message, ...diagnostic.help].join("\n"),
  }];
}
