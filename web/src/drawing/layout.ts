/**
 * Places for the nodes of a scene: in layers by their distance from the target, which stands last.
 *
 * Deterministic, so that equal questions give equal pictures. The direction is the one in which the picture is larger.
 */
import type { Scene, SceneEdge, SceneNode } from "./scene";

export interface Point { x: number; y: number }
export interface Size { width: number; height: number }
export interface Layout { places: Map<string, Point>; size: Size; direction: "right" | "down" }

/** How large a node is, and how long the text of an edge. */
export interface Measure { node(node: SceneNode): Size; edge(edge: SceneEdge): number }

const ROW_GAP = 30;
const DOWN_GAP = 62;
const LABEL_SPACE = 34;

export function layout(scene: Scene, measure: Measure, room: Size): Layout {
  const layers = layered(scene);
  const right = toTheRight(layers, scene, measure);
  if (scene.nodes.some((node) => node.column !== undefined)) return right;
  const down = downwards(layers, scene, measure);
  return zoom(right.size, room) >= zoom(down.size, room) * 0.92 ? right : down;
}

/** How much a picture must shrink to fit. */
export const zoom = (size: Size, room: Size): number => Math.min(1, room.width / size.width, room.height / size.height);

/** The nodes by their distance from the target, farthest first, each layer in the order of its neighbours. */
function layered(scene: Scene): SceneNode[][] {
  const nodes = scene.nodes.filter((node) => node.kind !== "group");
  if (nodes.some((node) => node.column !== undefined)) {
    return [-1, 0, 1].map((column) => nodes.filter((node) => node.column === column)).filter((layer) => layer.length > 0);
  }
  const neighbours = new Map<string, string[]>(nodes.map((node) => [node.id, []]));
  for (const { from, to } of scene.edges) {
    neighbours.get(from)?.push(to);
    neighbours.get(to)?.push(from);
  }
  const degree = (node: SceneNode) => neighbours.get(node.id)?.length ?? 0;
  const target = nodes.find((node) => node.kind === "target") ?? [...nodes].sort((a, b) => degree(b) - degree(a))[0];
  const depth = new Map<string, number>();
  const spread = (start: SceneNode, from: number) => {
    depth.set(start.id, from);
    const queue = [start.id];
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      for (const next of neighbours.get(id) ?? []) {
        if (depth.has(next)) continue;
        depth.set(next, (depth.get(id) ?? 0) + 1);
        queue.push(next);
      }
    }
  };
  if (target) spread(target, 0);
  for (const node of nodes) if (!depth.has(node.id)) spread(node, 1);
  const layers: SceneNode[][] = [];
  for (const node of nodes) (layers[depth.get(node.id) ?? 0] ??= []).push(node);
  const order = new Map<string, number>();
  for (const layer of layers) {
    const middle = (node: SceneNode) => {
      const above = (neighbours.get(node.id) ?? []).map((id) => order.get(id)).filter((it) => it !== undefined);
      return above.length ? above.reduce((sum, it) => sum + it, 0) / above.length : Number.MAX_SAFE_INTEGER;
    };
    // Those of one box stay together.
    const ranked = layer.map((node) => ({ node, at: middle(node) }));
    ranked.sort((a, b) => a.at - b.at || (a.node.parent ?? "").localeCompare(b.node.parent ?? ""));
    ranked.forEach(({ node }, index) => order.set(node.id, index - (ranked.length - 1) / 2));
    layer.splice(0, layer.length, ...ranked.map(({ node }) => node));
  }
  return layers.reverse();
}

function between(scene: Scene, one: SceneNode[], other: SceneNode[]): SceneEdge[] {
  const [a, b] = [new Set(one.map((node) => node.id)), new Set(other.map((node) => node.id))];
  return scene.edges.filter(({ from, to }) => (a.has(from) && b.has(to)) || (b.has(from) && a.has(to)));
}

function toTheRight(layers: SceneNode[][], scene: Scene, measure: Measure): Layout {
  const places = new Map<string, Point>();
  let x = 0;
  let height = 0;
  layers.forEach((layer, index) => {
    const width = Math.max(...layer.map((node) => measure.node(node).width));
    x += width / 2;
    const heights = layer.map((node) => measure.node(node).height);
    const total = heights.reduce((sum, it) => sum + it, 0) + ROW_GAP * (layer.length - 1);
    height = Math.max(height, total);
    let y = -total / 2;
    layer.forEach((node, row) => {
      const own = heights[row] ?? 0;
      places.set(node.id, { x, y: y + own / 2 });
      y += own + ROW_GAP;
    });
    const next = layers[index + 1];
    const labels = next ? between(scene, layer, next).map((edge) => measure.edge(edge) + LABEL_SPACE) : [0];
    x += width / 2 + (next ? Math.max(48, ...labels) : 0);
  });
  return { places, size: { width: Math.max(x, 1), height: height + 24 }, direction: "right" };
}

function downwards(layers: SceneNode[][], scene: Scene, measure: Measure): Layout {
  const places = new Map<string, Point>();
  let y = 0;
  let widest = 0;
  layers.forEach((layer, index) => {
    const next = layers[index + 1];
    const widths = layer.map((node) => measure.node(node).width);
    // Beside an edge stands its text.
    const label = Math.max(0, ...(next ? between(scene, layer, next).map(measure.edge) : []));
    const gap = layer.length > 1 ? Math.max(ROW_GAP, label - Math.min(...widths) / 2 + 16) : 0;
    const total = widths.reduce((sum, it) => sum + it, 0) + gap * (layer.length - 1);
    widest = Math.max(widest, total, 2 * label + 24);
    let x = -total / 2;
    const height = Math.max(...layer.map((node) => measure.node(node).height));
    layer.forEach((node, column) => {
      const own = widths[column] ?? 0;
      places.set(node.id, { x: x + own / 2, y: y + height / 2 });
      x += own + gap;
    });
    y += height + (next ? DOWN_GAP : 0);
  });
  return { places, size: { width: Math.max(widest, 1), height: y }, direction: "down" };
}

/**
 * The places of a scene that follows another one. Nodes that stay keep theirs; new ones are put where the layout has
 * them, seen from those that stay, and moved aside where somebody stands already.
 */
export function keepPlaces(fresh: Map<string, Point>, before: Map<string, Point>): Map<string, Point> {
  const staying = [...fresh].filter(([id]) => before.has(id));
  if (staying.length * 2 < fresh.size) return fresh;
  const shift = { x: 0, y: 0 };
  for (const [id, place] of staying) {
    const old = before.get(id) as Point;
    shift.x += (old.x - place.x) / staying.length;
    shift.y += (old.y - place.y) / staying.length;
  }
  const places = new Map(staying.map(([id]) => [id, before.get(id) as Point]));
  for (const [id, place] of fresh) {
    if (places.has(id)) continue;
    const spot = { x: place.x + shift.x, y: place.y + shift.y };
    while ([...places.values()].some((taken) => Math.abs(taken.x - spot.x) < 60 && Math.abs(taken.y - spot.y) < 44)) spot.y += 52;
    places.set(id, spot);
  }
  return places;
}

/** Where the text of an edge stands, from its middle, so that it does not touch the line: on the side away from `centre`. */
export function labelOffset(from: Point, to: Point, text: Size, centre: Point): Point {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  let normal = { x: dy / length, y: -dx / length };
  const middle = { x: (from.x + to.x) / 2 - centre.x, y: (from.y + to.y) / 2 - centre.y };
  const outwards = normal.x * middle.x + normal.y * middle.y;
  const level = Math.abs(dx) > Math.abs(dy);
  const wrong = Math.abs(outwards) > 4 ? outwards < 0 : level ? normal.y > 0 : normal.x < 0;
  if (wrong) normal = { x: -normal.x, y: -normal.y };
  const distance = (Math.abs(normal.x) * text.width) / 2 + (Math.abs(normal.y) * text.height) / 2 + 3;
  return { x: normal.x * distance, y: normal.y * distance };
}
