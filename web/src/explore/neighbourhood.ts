/** A thing in the middle, what leads to it on the left, what it leads to on the right. */
import type { Description } from "../api/types";
import { nameOf } from "../parts/text";
import type { Scene, SceneEdge, SceneNode } from "../drawing/scene";

/** How many neighbours a side shows. */
const A_SIDE = 8;

export function neighbourhood(description: Description): Scene {
  const self: SceneNode = { id: "self", kind: "target", text: nameOf(description), entity: description.name, column: 0 };
  const nodes = new Map<string, SceneNode>([[self.id, self]]);
  const edges: SceneEdge[] = [];
  for (const [column, incoming] of [[-1, true], [1, false]] as const) {
    const groups = description.relations.filter((it) => it.direction === (incoming ? "incoming" : "outgoing"));
    const known = fairly(groups.map((group) => group.edges.map((edge) => ({ group, edge }))), A_SIDE);
    for (const { group, edge } of known) {
      const [name, text] = incoming ? [edge.head, edge.head_text] : [edge.tail, edge.tail_text];
      put(column, name, text, group.relation_text, "stored", incoming);
    }
  }
  for (const it of (description.predicted ?? []).slice(0, 4)) {
    const incoming = it.object.id === description.id;
    const other = incoming ? it.subject : it.object;
    put(incoming ? -1 : 1, other.name, nameOf(other), nameOf(it.relation), "predicted", incoming, it.truth);
  }
  function put(column: number, name: string, text: string, relation: string, kind: "stored" | "predicted", incoming: boolean, truth?: number) {
    const id = name === description.name ? self.id : `${column}:${name}`;
    if (!nodes.has(id)) nodes.set(id, { id, kind: "variable", text, entity: name, column });
    const detail = truth === undefined ? undefined : truth.toFixed(2).replace(/^0/, "");
    edges.push({ id: `e${edges.length}`, from: incoming ? id : self.id, to: incoming ? self.id : id, text: relation, kind, truth: truth ?? 0.2, detail });
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
