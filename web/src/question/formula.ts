/** A question as a tree, and the places within it. */
import type { Formula, Term } from "../api/types";

export type { Formula, Term };
export type AtomFormula = Extract<Formula, { kind: "atom" }>;

/** A question: what is sought, and what must hold. A statement has no target. */
export interface Question { target: string | null; formula: Formula | null }

/** The way from the whole formula to a part: which of the parts, at every step. */
export type Path = readonly number[];

export const children = (formula: Formula): Formula[] => {
  switch (formula.kind) {
    case "and":
    case "or":
      return formula.parts;
    case "not":
    case "exists":
      return [formula.part];
    case "atom":
      return [];
  }
};

export function at(formula: Formula, path: Path): Formula | undefined {
  let found: Formula | undefined = formula;
  for (const step of path) found = found && children(found)[step];
  return found;
}

export interface PlacedAtom { atom: AtomFormula; path: Path; negated: boolean }

/** Every atom in the order of the text. */
export function atoms(formula: Formula | null, path: Path = [], negated = false): PlacedAtom[] {
  if (!formula) return [];
  if (formula.kind === "atom") return [{ atom: formula, path, negated }];
  return children(formula).flatMap((part, index) => {
    const directly = formula.kind === "not" && part.kind === "atom";
    return atoms(part, [...path, index], directly);
  });
}

/** Every name that stands in the question, so that a new variable can avoid it. */
export function names({ target, formula }: Question): Set<string> {
  const found = new Set<string>(target ? [target] : []);
  const walk = (part: Formula) => {
    if (part.kind === "exists") part.variables.forEach((name) => found.add(name));
    if (part.kind === "atom") [part.relation_text, part.subject.text, part.object.text].forEach((name) => found.add(name));
    children(part).forEach(walk);
  };
  if (formula) walk(formula);
  return found;
}

/** A name for a new variable. */
export function freshVariable(question: Question): string {
  const taken = names(question);
  for (let round = 0; ; round++) {
    for (const letter of "XYZUVW") {
      const name = round ? `${letter}${round}` : letter;
      if (!taken.has(name)) return name;
    }
  }
}
