/** How the editor looks. Its colours are the page's custom properties, which reach into the shadow root. */
import { EditorView } from "@codemirror/view";

export const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "transparent", fontSize: "16px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", maxHeight: "40vh" },
  ".cm-content": { padding: "14px 4px", caretColor: "var(--ink)", minHeight: "54px" },
  ".cm-line": { padding: "0 12px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "1.5px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--selection) !important" },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", color: "var(--accent-ink)", fontWeight: "700" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", color: "inherit" },
  ".cm-lintRange-error, .cm-lintRange-warning, .cm-lintRange-info": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--wrong) 1.5px",
    textUnderlineOffset: "4px",
    textDecorationSkipInk: "none",
  },
  ".cm-lintRange-info": { textDecorationColor: "var(--accent)" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--wrong) !important" },
  ".cm-tooltip": {
    background: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line-strong)", borderRadius: "var(--radius)",
    overflow: "hidden", fontFamily: "var(--sans)", fontSize: "14px", maxWidth: "min(520px, 92vw)",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--sans) !important", maxHeight: "264px !important" },
  ".cm-tooltip-autocomplete > ul > li": {
    display: "flex", alignItems: "baseline", gap: "8px", padding: "6px 12px !important", lineHeight: "1.35 !important",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--accent) !important", color: "var(--on-accent) !important" },
  ".cm-completionLabel": { flex: "1 1 auto", overflow: "hidden", textOverflow: "ellipsis", minWidth: "6em" },
  ".cm-completionMatchedText": { textDecoration: "none !important", fontWeight: "600" },
  ".cm-completionDetail": { color: "var(--muted)", fontStyle: "normal", fontSize: "12px", marginLeft: "auto", flex: "none" },
  "li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-diagnostic": { padding: "8px 12px", borderLeft: "none !important", whiteSpace: "pre-wrap" },
  ".cm-diagnosticAction": {
    font: "inherit", fontSize: "13px", background: "var(--accent)", color: "var(--on-accent)", borderRadius: "var(--radius)", padding: "3px 8px", marginLeft: "8px",
  },
});
