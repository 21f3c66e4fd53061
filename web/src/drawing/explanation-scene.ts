/** An explanation → nodes and edges: values in the places of variables, truth values on the edges. */
import type { Atom, Entity, Explanation, SubQuery } from "../api/types";
import { nameOf, number } from "../parts/text";
import type { Scene, SceneEdge, SceneNode } from "./scene";

export function explanationScene(explanation: Pick<Explanation, "atoms" | "sub_queries" | "assignment">, target: string | null): Scene {
  const nodes = new Map<string, SceneNode>();
  const edges: SceneEdge[] = [];
  const node = (value: Entity, variable: string | null | undefined, parent?: string) => {
    const id = variable ? `?${variable}` : `#${value.id}`;
    if (!nodes.has(id)) {
      const kind = !variable ? "anchor" : variable === target ? "target" : "variable";
      const name = nameOf(value);
      nodes.set(id, { id, kind, text: variable ? `${variable} = ${name}` : name, entity: value.name, parent });
    }
    return id;
  };
  const atom = (it: Atom, prefix: string, parent?: string) => {
    const from = node(it.subject, it.subject_variable, parent);
    const to = node(it.object, it.object_variable, parent);
    edges.push({
      id: `${prefix}${edges.length}`, from, to, text: nameOf(it.relation), detail: number(it.truth),
      kind: it.known ? "stored" : "predicted", negated: it.negated, truth: it.truth,
    });
  };
  const nested = (it: SubQuery, prefix: string, around?: string) => {
    const group = `not:${prefix}`;
    nodes.set(group, { id: group, kind: "group", text: "not", parent: around });
    it.witness?.atoms.forEach((each) => atom(each, prefix, group));
    it.witness?.sub_queries?.forEach((each, index) => nested(each, `${prefix}${index}.`, group));
  };
  explanation.atoms.forEach((each) => atom(each, "a"));
  explanation.sub_queries?.forEach((each, index) => nested(each, `n${index}.`));
  const parents = new Set([...nodes.values()].map((it) => it.parent));
  return { nodes: [...nodes.values()].filter((it) => it.kind !== "group" || parents.has(it.id)), edges };
}
