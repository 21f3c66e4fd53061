/** The colours of a question: the text syntax, or SPARQL if the first word is one of SPARQL. */
import { HighlightStyle, StreamLanguage, type StringStream, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

interface State {
  language: "unknown" | "text" | "sparql";
  /** The target and the variables after `exists`. */
  variables: Set<string>;
  /** Within the list of an `exists`. */
  listing: boolean;
}

const WORD = /^[^\s(),."<>&|!?∧∨¬∃':#][^\s(),"<>&|!?∧∨¬∃]*/u;
const SPARQL_START = /^\s*(?:#.*)?(?:prefix|base|select|ask|construct|describe)\b/i;
const SPARQL_WORDS = /^(?:prefix|base|select|distinct|reduced|ask|where|union|optional|filter|not|exists|minus|values|limit|offset|order|by|desc|asc|bind|as|in|a)\b/i;

export const questionLanguage = StreamLanguage.define<State>({
  name: "question",
  startState: () => ({ language: "unknown", variables: new Set(), listing: false }),
  copyState: (state) => ({ ...state, variables: new Set(state.variables) }),
  token(stream, state) {
    if (state.language === "unknown" && stream.sol()) state.language = SPARQL_START.test(stream.string) ? "sparql" : "text";
    if (stream.eatSpace()) return null;
    return state.language === "sparql" ? sparql(stream) : text(stream, state);
  },
  languageData: { closeBrackets: { brackets: ["(", "{", '"'] } },
});

function text(stream: StringStream, state: State): string | null {
  if (stream.match(/^#\d+/)) return "string";
  if (stream.match(/^#.*/)) return "comment";
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/) || stream.match(/^<[^\s<>"]*>?/)) {
    return /^\s*\(/.test(stream.string.slice(stream.pos)) ? "propertyName" : "string";
  }
  if (stream.match(/^[∃]/u)) {
    state.listing = true;
    return "keyword";
  }
  if (stream.match(/^(?:[∧∨¬!]|&&?|\|\|?)/u)) return "keyword";
  const marked = stream.match(/^\?([\p{L}\p{N}_]+)/u) as RegExpMatchArray | null;
  if (marked) {
    state.variables.add(marked[1] ?? "");
    return "variableName";
  }
  const word = stream.match(WORD) as RegExpMatchArray | null;
  if (!word) {
    const letter = stream.next();
    if (letter === "." || letter === ":") state.listing = false;
    return "punctuation";
  }
  // A dot or colon at the end of a word is not part of the word.
  const name = word[0].replace(/[.:]+$/, "");
  stream.backUp(word[0].length - name.length);
  if (/^(?:and|or|not|exists)$/i.test(name)) {
    state.listing = /^exists$/i.test(name);
    return "keyword";
  }
  if (state.listing) state.variables.add(name);
  if (/^\s*\(/.test(stream.string.slice(stream.pos))) return "propertyName";
  if (state.variables.has(name) || /^\s*:\s/.test(stream.string.slice(stream.pos))) return "variableName";
  return "string";
}

function sparql(stream: StringStream): string | null {
  if (stream.match(/^#.*/)) return "comment";
  if (stream.match(/^[?$][\p{L}\p{N}_]+/u)) return "variableName";
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^<[^\s<>"]*>/)) return "string";
  if (stream.match(SPARQL_WORDS)) return "keyword";
  if (stream.match(/^[\p{L}\p{N}_]*:[\p{L}\p{N}_%.\-]*/u)) return "propertyName";
  if (stream.match(/^[\p{L}\p{N}_]+/u)) return "string";
  stream.next();
  return "punctuation";
}

export const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: tags.keyword, color: "var(--muted)", fontStyle: "italic" },
    { tag: tags.variableName, color: "var(--accent-ink)", fontWeight: "600" },
    { tag: tags.propertyName, color: "var(--ink)", fontWeight: "600" },
    { tag: tags.string, color: "var(--stored-ink)" },
    { tag: tags.punctuation, color: "var(--muted)" },
    { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  ]),
);
