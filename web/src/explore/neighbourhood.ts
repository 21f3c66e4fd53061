/** A thing in the middle, what leads to it on the left, what it leads to on the right. */
import type { Description } from "../api/types";
import { grouped, nameOf, number } from "../parts/text";
import type { Scene, SceneEdge, SceneNode } from "../drawing/scene";

/** How many neighbours a side shows. */
const A_SIDE = 8;
/** How many predicted edges are drawn. */
const PREDICTED = 4;

export function neighbourhood(description: Description): Scene {
  const self: SceneNode = { id: "self", kind: "target", text: nameOf(description), entity: description.name, column: 0 };
  const nodes = new Map<string, SceneNode>([[self.id, self]]);
  const edges: SceneEdge[] = [];
  const put = (side: -1 | 1, relation: string, count: string, kind: "stored" | "predicted", name: string, text: string, truth?: number) => {
    const [hub, end] = [`${side}:${kind}:${relation}`, `${side}:${kind}:${relation}:${name}`];
    // An edge points from its head to its tail: on the left to the thing, on the right away from it.
    const line = (one: string, other: string, detail?: string) => {
      const [from, to] = side < 0 ? [other, one] : [one, other];
      edges.push({ id: `e${edges.length}`, from, to, text: "", detail, kind, truth: truth ?? 0.2 });
    };
    if (!nodes.has(hub)) {
      nodes.set(hub, { id: hub, kind: "hub", text: `${relation}${count}`, column: side });
      line(self.id, hub);
    }
    if (nodes.has(end)) return;
    nodes.set(end, { id: end, kind: "variable", text, entity: name, column: 2 * side });
    line(hub, end, truth === undefined ? undefined : number(truth));
  };
  for (const side of [-1, 1] as const) {
    const groups = description.relations.filter((it) => it.direction === (side < 0 ? "incoming" : "outgoing"));
    for (const { group, edge } of fairly(groups.map((it) => it.edges.map((edge) => ({ group: it, edge }))), description.predicted ? A_SIDE - PREDICTED + 1 : A_SIDE)) {
      const [name, text] = side < 0 ? [edge.head, edge.head_text] : [edge.tail, edge.tail_text];
      put(side, group.relation_text, group.count > 1 ? ` (${grouped(group.count)})` : "", "stored", name, text);
    }
  }
  const likely = (description.predicted ?? []).slice(0, PREDICTED).map((it) => ({ it, incoming: it.object.id === description.id }));
  // Edges of one relation stand together, so that their lines do not cross; the likeliest relation comes first.
  const key = ({ it, incoming }: (typeof likely)[number]) => `${incoming} ${it.relation.name}`;
  const first = [...new Set(likely.map(key))];
  for (const { it, incoming } of likely.sort((a, b) => first.indexOf(key(a)) - first.indexOf(key(b)))) {
    const other = incoming ? it.subject : it.object;
    put(incoming ? -1 : 1, nameOf(it.relation), "?", "predicted", other.name, nameOf(other), it.truth);
  }
  return { nodes: [...nodes.values()], edges };
}

/** The first of every list, then the second of every list, until there are enough; in the order of the lists. */
function fairly<T>(lists: T[][], most: number): T[] {
  const taken = lists.map(() => 0);
  let count = 0;
  for (let round = 0; count < most && lists.some((list) => list.length > round); round++) {
    lists.forEach((list, index) => {
      if (list.length > round && count < most) {
        taken[index] = round + 1;
        count++;
      }
    });
  }
  return lists.flatMap((list, index) => list.slice(0, taken[index]));
}
