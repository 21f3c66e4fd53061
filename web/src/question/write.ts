/** A question as text. The parentheses are those that the engine itself writes. */
import type { Formula, Question } from "./formula";

type Around = "nothing" | "or" | "and" | "not";

export function write({ target, formula }: Question): string {
  if (!formula) return target ? `?${target} : ` : "";
  const text = part(formula, "nothing");
  return target ? `?${target} : ${text}` : text;
}

export function part(formula: Formula, around: Around): string {
  const text = bare(formula);
  return needsParentheses(formula, around) ? `(${text})` : text;
}

function bare(formula: Formula): string {
  switch (formula.kind) {
    case "atom":
      return `${formula.relation_text}(${formula.subject.text}, ${formula.object.text})`;
    case "not":
      return `not ${part(formula.part, "not")}`;
    case "exists":
      return `exists ${formula.variables.join(", ")}. ${part(formula.part, "nothing")}`;
    default:
      return formula.parts.map((each) => part(each, formula.kind)).join(` ${formula.kind} `);
  }
}

function needsParentheses(formula: Formula, around: Around): boolean {
  switch (formula.kind) {
    case "atom":
    case "not":
      return false;
    case "and":
      return around === "not" || around === "and";
    default:
      return around !== "nothing";
  }
}
