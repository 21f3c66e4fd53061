/**
 * A thing in the middle, what leads to it on the left, what it leads to on the right. Where there is no room for both
 * sides, all stands on the right, and an arrow before a relation says that it leads to the thing.
 */
import type { Description } from "../api/types";
import { grouped, nameOf, number } from "../parts/text";
import type { Scene, SceneEdge, SceneNode } from "../drawing/scene";

/** How many neighbours a side shows. */
const A_SIDE = 8;
/** How many predicted edges are drawn. */
const PREDICTED = 4;

/** Letters of a name where there is little room: of the thing itself, of a relation, of a neighbour. */
const SHORT = { self: 10, hub: 15, end: 16 };

export function neighbourhood(description: Description, narrow = false): Scene {
  const short = (which: keyof typeof SHORT) => (narrow ? SHORT[which] : undefined);
  const self: SceneNode = { id: "self", kind: "target", text: nameOf(description), entity: description.name, longest: short("self"), column: 0 };
  const nodes = new Map<string, SceneNode>([[self.id, self]]);
  const edges: SceneEdge[] = [];
  const put = (side: -1 | 1, relation: string, count: string, kind: "stored" | "predicted", name: string, text: string, truth?: number) => {
    const column = narrow ? 1 : side;
    const [hub, end] = [`${side}:${kind}:${relation}`, `${side}:${kind}:${relation}:${name}`];
    // An edge points from its head to its tail: on the left to the thing, on the right away from it.
    const line = (one: string, other: string, detail?: string) => {
      const [from, to] = side < 0 && !narrow ? [other, one] : [one, other];
      edges.push({ id: `e${edges.length}`, from, to, text: "", detail, kind, truth: truth ?? 0.2, backward: side < 0 && narrow });
    };
    if (!nodes.has(hub)) {
      nodes.set(hub, { id: hub, kind: "hub", text: `${narrow && side < 0 ? "← " : ""}${relation}${count}`, longest: short("hub"), column });
      line(self.id, hub);
    }
    if (nodes.has(end)) return;
    nodes.set(end, { id: end, kind: "variable", text, entity: name, longest: short("end"), column: 2 * column });
    line(hub, end, truth === undefined ? undefined : number(truth));
  };
  const room = description.predicted ? A_SIDE - PREDICTED + 1 : A_SIDE;
  const both = (["incoming", "outgoing"] as const).every((it) => description.relations.some((group) => group.direction === it));
  const most = narrow && both ? Math.ceil(room / 2) + 1 : room;
  for (const side of [-1, 1] as const) {
    const groups = description.relations.filter((it) => it.direction === (side < 0 ? "incoming" : "outgoing"));
    for (const { group, edge } of fairly(groups.map((it) => it.edges.map((edge) => ({ group: it, edge }))), most)) {
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
