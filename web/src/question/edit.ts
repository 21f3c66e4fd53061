/** Changes to a question that a drawing makes. Each returns a new question and leaves the old one unchanged. */
import { at, children, names, type AtomFormula, type Formula, type Path, type Question } from "./formula";

/** A change that cannot be made, with the reason for people. */
export class CannotEdit extends Error {}

/**
 * Adds a condition where all of its variables are known.
 *
 * `scopes` are the places of the `exists` that bind them, the empty path for the target; `fresh` are new variables.
 */
export function add(question: Question, atom: AtomFormula, scopes: readonly Path[], fresh: readonly string[]): Question {
  const { formula, target } = question;
  if (!formula) return { target, formula: bind(fresh, atom) };
  const place = deepest(scopes);
  return { target, formula: replace(formula, place, (part) => withCondition(part, atom, fresh)) };
}

function withCondition(part: Formula, atom: AtomFormula, fresh: readonly string[]): Formula {
  if (part.kind === "exists") {
    return { ...part, variables: [...part.variables, ...fresh], part: join("and", [part.part, atom]) };
  }
  return bind(fresh, join("and", [part, atom]));
}

/** Removes an atom, and the variables that no atom mentions any more. */
export function remove(question: Question, path: Path): Question {
  return { ...question, formula: question.formula && without(question.formula, path) };
}

/** Turns an atom into its negation and back. */
export function negate(question: Question, path: Path): Question {
  const { formula } = question;
  if (!formula) return question;
  const above = path.slice(0, -1);
  const negated = path.length > 0 && at(formula, above)?.kind === "not";
  const changed = negated
    ? replace(formula, above, (part) => (part.kind === "not" ? part.part : part))
    : replace(formula, path, (part) => ({ kind: "not", part }));
  return { ...question, formula: changed };
}

/** Makes an atom one of two alternatives. */
export function either(question: Question, path: Path, other: AtomFormula): Question {
  const { formula } = question;
  if (!formula) return question;
  return { ...question, formula: tidy(replace(formula, path, (part) => join("or", [part, other]))) };
}

/** Puts another relation or another end in place. */
export function change(question: Question, path: Path, atom: AtomFormula): Question {
  const { formula } = question;
  return formula ? { ...question, formula: replace(formula, path, () => atom) } : question;
}

/** Makes another variable the target; the old target is bound by `exists`. */
export function seek(question: Question, variable: string): Question {
  const { formula, target } = question;
  if (!formula || !target) throw new CannotEdit("a statement has no target");
  if (formula.kind !== "exists" || !formula.variables.includes(variable)) {
    throw new CannotEdit(`${variable} occurs in one part of the question only, so it cannot be the target`);
  }
  return { target: variable, formula: { ...formula, variables: formula.variables.map((name) => (name === variable ? target : name)) } };
}

function deepest(scopes: readonly Path[]): Path {
  const place = scopes.reduce<Path>((deepest, scope) => (scope.length > deepest.length ? scope : deepest), []);
  if (scopes.some((scope) => scope.some((step, index) => place[index] !== step))) {
    throw new CannotEdit("these two are in different alternatives of the question, so no condition can join them");
  }
  return place;
}

function replace(formula: Formula, path: Path, by: (part: Formula) => Formula): Formula {
  const [step, ...rest] = path;
  if (step === undefined) return by(formula);
  switch (formula.kind) {
    case "and":
    case "or":
      return { ...formula, parts: formula.parts.map((part, index) => (index === step ? replace(part, rest, by) : part)) };
    case "not":
    case "exists":
      return { ...formula, part: replace(formula.part, rest, by) };
    case "atom":
      return formula;
  }
}

function without(formula: Formula, path: Path): Formula | null {
  const [step, ...rest] = path;
  if (step === undefined) return null;
  switch (formula.kind) {
    case "and":
    case "or": {
      const parts = formula.parts.map((part, index) => (index === step ? without(part, rest) : part));
      const left = parts.filter((part): part is Formula => part !== null);
      return left.length ? join(formula.kind, left) : null;
    }
    case "not": {
      const left = without(formula.part, rest);
      return left && { kind: "not", part: left };
    }
    case "exists": {
      const left = without(formula.part, rest);
      if (!left) return null;
      const used = names({ target: null, formula: left });
      return bind(formula.variables.filter((name) => used.has(name)), left);
    }
    case "atom":
      return formula;
  }
}

const bind = (variables: readonly string[], part: Formula): Formula =>
  variables.length ? { kind: "exists", variables: [...variables], part } : part;

/** Parts in one conjunction or disjunction, without one inside of the other. */
function join(kind: "and" | "or", parts: Formula[]): Formula {
  const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
  return flat.length === 1 && flat[0] ? flat[0] : { kind, parts: flat };
}

function tidy(formula: Formula): Formula {
  if (formula.kind === "and" || formula.kind === "or") return join(formula.kind, formula.parts.map(tidy));
  const [only] = children(formula);
  return only && (formula.kind === "not" || formula.kind === "exists") ? { ...formula, part: tidy(only) } : formula;
}
