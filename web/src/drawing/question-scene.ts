/** A question → nodes and edges. */
import { children, type Formula, type Path, type Question, type Term } from "../question/formula";
import type { Scene, SceneEdge, SceneNode } from "./scene";

interface Context {
  /** The node of every variable in scope. */
  variables: Map<string, { id: string; scope: Path }>;
  /** The box of the negated part around. */
  group: string | null;
  negated: boolean;
  /** The `or` split at which an edge to a node ends, instead of at the node itself. */
  splits: Map<string, string>;
}

export function questionScene({ target, formula }: Question): Scene {
  const builder = new Builder();
  const variables: Context["variables"] = new Map();
  if (target) variables.set(target, { id: builder.variable(target, "target", []), scope: [] });
  if (formula) builder.walk(formula, { variables, group: null, negated: false, splits: new Map() }, []);
  return builder.scene();
}

/** `?R : R(a, b)`: two named things and the relation that is sought, drawn from the text as the engine writes it. */
export function betweenScene(question: string): Scene {
  const found = BETWEEN.exec(question);
  if (!found?.[1] || !found[2] || !found[3]) return { nodes: [], edges: [] };
  const node = (text: string): SceneNode => ({ id: `"${text}`, kind: "anchor", text: unquoted(text), entity: unquoted(text) });
  const [one, other] = [node(found[2]), node(found[3])];
  const nodes = one.id === other.id ? [one] : [one, other];
  return { nodes, edges: [{ id: "between", from: one.id, to: other.id, text: `${found[1]} ?`, kind: "asked" }] };
}

const NAME = '("(?:[^"\\\\]|\\\\.)*"|<[^>]*>|[^,()"]+)';
const BETWEEN = new RegExp(`^\\?(\\S+) : \\S+\\(${NAME}, ${NAME}\\)$`, "u");

class Builder {
  private nodes = new Map<string, SceneNode>();
  private edges: SceneEdge[] = [];
  /** The boxes in which each node is used; a node that is used in several boxes is drawn in none. */
  private uses = new Map<string, Set<string | null>>();

  scene(): Scene {
    for (const [id, groups] of this.uses) {
      const [group] = groups;
      const node = this.nodes.get(id);
      if (node && group && groups.size === 1 && node.kind !== "target") node.parent = group;
    }
    const parents = new Set([...this.nodes.values()].map((node) => node.parent));
    const nodes = [...this.nodes.values()].filter((node) => node.kind !== "group" || parents.has(node.id));
    return { nodes, edges: this.edges };
  }

  variable(name: string, kind: "target" | "variable", scope: Path): string {
    let id = `?${name}`;
    for (let copy = 2; this.nodes.has(id); copy++) id = `?${name}#${copy}`;
    this.nodes.set(id, { id, kind, text: name, term: { kind: "variable", text: name }, scope });
    return id;
  }

  walk(formula: Formula, context: Context, path: Path) {
    switch (formula.kind) {
      case "atom": {
        const from = this.end(formula.subject, context);
        const to = this.end(formula.object, context);
        this.edges.push({
          id: `atom:${path.join(".")}`, from, to, text: unquoted(formula.relation_text), kind: "asked", negated: context.negated, path,
        });
        return;
      }
      case "and":
        formula.parts.forEach((part, index) => this.walk(part, context, [...path, index]));
        return;
      case "exists": {
        const variables = new Map(context.variables);
        for (const name of formula.variables) {
          const id = this.variable(name, "variable", path);
          variables.set(name, { id, scope: path });
          this.use(id, context.group);
        }
        this.walk(formula.part, { ...context, variables }, [...path, 0]);
        return;
      }
      case "not": {
        if (formula.part.kind === "atom") {
          this.walk(formula.part, { ...context, negated: true }, [...path, 0]);
          return;
        }
        const id = `not:${path.join(".")}`;
        this.nodes.set(id, { id, kind: "group", text: "not", parent: context.group ?? undefined });
        // Without a node of its own a box cannot be drawn: then every edge says that it is negated.
        const boxed = hasOwn(formula.part, context);
        this.walk(formula.part, { ...context, group: boxed ? id : context.group, negated: !boxed }, [...path, 0]);
        return;
      }
      case "or": {
        const about = sharedBy(formula.parts, context);
        const splits = new Map(context.splits);
        if (about) splits.set(about.id, this.meeting("or", path, context.splits.get(about.id) ?? about.id, context));
        formula.parts.forEach((part, index) => {
          const at = [...path, index];
          // The edges of one alternative meet before they reach the others: else each would look like an alternative.
          const meet = about && mentions(part, about.name) > 1 ? this.meeting("and", at, splits.get(about.id) ?? about.id, context) : null;
          this.walk(part, { ...context, splits: about && meet ? new Map(splits).set(about.id, meet) : splits }, at);
        });
        return;
      }
    }
  }

  /** A split at which edges to a node meet. */
  private meeting(text: "or" | "and", path: Path, to: string, context: Context): string {
    const id = `${text}:${path.join(".")}`;
    this.nodes.set(id, { id, kind: "or", text });
    this.use(id, context.group);
    this.edges.push({ id: `join-${id}`, from: id, to, text: "", kind: "join" });
    return id;
  }

  private end(term: Term, context: Context): string {
    const bound = term.kind === "variable" ? context.variables.get(term.text) : undefined;
    if (bound) return context.splits.get(bound.id) ?? bound.id;
    const id = `"${term.text}`;
    if (!this.nodes.has(id)) {
      const text = term.label ?? unquoted(term.text);
      this.nodes.set(id, { id, kind: "anchor", text, term, scope: [], entity: unquoted(term.text) });
    }
    this.use(id, context.group);
    return id;
  }

  private use(id: string, group: string | null) {
    const groups = this.uses.get(id) ?? new Set();
    this.uses.set(id, groups.add(group));
  }
}

/** The outermost variable that every alternative mentions. */
function sharedBy(parts: Formula[], context: Context): { name: string; id: string } | undefined {
  const spoken = parts.map((part) => free(part));
  for (const [name, { id }] of context.variables) if (spoken.every((names) => names.has(name))) return { name, id };
  return undefined;
}

/** How many edges of a part, beside those of alternatives inside it, end at a variable. */
function mentions(formula: Formula, name: string): number {
  if (formula.kind === "atom") return [formula.subject, formula.object].some((term) => term.kind === "variable" && term.text === name) ? 1 : 0;
  if (formula.kind === "or") return free(formula).has(name) ? 1 : 0;
  if (formula.kind === "exists" && formula.variables.includes(name)) return 0;
  return children(formula).reduce((sum, part) => sum + mentions(part, name), 0);
}

/** The variables that a part mentions and does not bind itself. */
export function free(formula: Formula): Set<string> {
  if (formula.kind === "atom") {
    return new Set([formula.subject, formula.object].filter((term) => term.kind === "variable").map((term) => term.text));
  }
  const found = new Set(children(formula).flatMap((part) => [...free(part)]));
  if (formula.kind === "exists") formula.variables.forEach((name) => found.delete(name));
  return found;
}

function hasOwn(formula: Formula, context: Context): boolean {
  if (formula.kind === "exists") return true;
  if (formula.kind === "atom") {
    return [formula.subject, formula.object].some((term) => term.kind === "entity" || !context.variables.has(term.text));
  }
  return children(formula).some((part) => hasOwn(part, context));
}

/** A name without the quotes or brackets that a question needs around it. */
export function unquoted(text: string): string {
  if (text.startsWith('"') && text.endsWith('"') && text.length > 1) {
    try {
      return JSON.parse(text) as string;
    } catch {
      return text.slice(1, -1).replace(/\\(.)/g, "$1");
    }
  }
  return text.startsWith("<") && text.endsWith(">") ? text.slice(1, -1) : text;
}
