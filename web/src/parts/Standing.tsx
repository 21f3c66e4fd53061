/** Whether something is stored or predicted, shown by word and by shape. */
import type { Answer, Atom, RelationAnswer } from "../api/types";
import { grouped } from "./text";

export type StandingKind = "known" | "predicted" | "open";

export function Standing({ kind, text, extra }: { kind: StandingKind; text: string; extra?: string }) {
  return (
    <span class={`standing ${kind}`}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        {kind === "known" && <circle cx="6" cy="6" r="4.5" fill="currentColor" />}
        {kind === "predicted" && <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="2.2 1.6" />}
        {kind === "open" && <path d="M3 6h6" stroke="currentColor" stroke-width="1.6" />}
      </svg>
      <span>{text}{extra && <span class="extra">, {extra}</span>}</span>
    </span>
  );
}

export function ofAnswer({ known, ways }: Answer): { kind: StandingKind; text: string; extra?: string } {
  if (known === true) {
    const count = ways ? `${grouped(ways.count)}${ways.more ? "+" : ""}` : "";
    return { kind: "known", text: "known", extra: ways && (ways.count > 1 || ways.more) ? `${count} ways` : undefined };
  }
  return known === false ? { kind: "predicted", text: "predicted" } : { kind: "open", text: "undetermined" };
}

export function ofEdge({ known, stored }: Pick<Atom | RelationAnswer, "known" | "stored">): { kind: StandingKind; text: string } {
  if (known) return { kind: "known", text: `stored, ${known}` };
  if (stored) return { kind: "predicted", text: `stored in ${stored}, scored by the model` };
  return { kind: "predicted", text: "predicted" };
}
