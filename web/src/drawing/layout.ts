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
/** The least space between two layers, and what a text on an edge takes beside its own width; less where there is little room. */
const GAPS = { layer: 52, label: 34 };
const SMALL_GAPS = { layer: 30, label: 14 };
/** Rooms narrower than this have little of it. */
const NARROW = 480;

export function layout(scene: Scene, measure: Measure, room: Size): Layout {
  const layers = layered(scene);
  const sided = scene.nodes.some((node) => node.column !== undefined);
  const right = toTheRight(layers, scene, measure, sided && room.width < NARROW ? SMALL_GAPS : GAPS);
  if (sided) return hubbed(right, scene);
  const down = downwards(layers, scene, measure);
  return zoom(right.size, room) >= zoom(down.size, room) * 0.92 ? right : down;
}

/** Puts every hub at the mean height of the nodes at its ends. */
function hubbed(plan: Layout, scene: Scene): Layout {
  for (const hub of scene.nodes.filter((node) => node.kind === "hub")) {
    const ends = scene.edges.flatMap(({ from, to }) => (from === hub.id ? [to] : to === hub.id ? [from] : [])).filter((id) => id !== "self");
    const heights = ends.map((id) => plan.places.get(id)?.y ?? 0);
    const place = plan.places.get(hub.id);
    if (place && heights.length) place.y = heights.reduce((sum, y) => sum + y, 0) / heights.length;
  }
  return plan;
}

/** How much a picture must shrink to fit. */
export const zoom = (size: Size, room: Size): number => Math.min(1, room.width / size.width, room.height / size.height);

/** The nodes by their distance from the target, farthest first, each layer in the order of its neighbours. */
function layered(scene: Scene): SceneNode[][] {
  const nodes = scene.nodes.filter((node) => node.kind !== "group");
  if (nodes.some((node) => node.column !== undefined)) {
    const columns = [...new Set(nodes.map((node) => node.column ?? 0))].sort((a, b) => a - b);
    return columns.map((column) => nodes.filter((node) => (node.column ?? 0) === column));
  }
  const neighbours = new Map<string, string[]>(nodes.map((node) => [node.id, []]));
  for (const { from, to } of scene.edges) {
    neighbours.get(from)?.push(to);
    neighbours.get(to)?.push(from);
  }
  const degree = (node: SceneNode) => neighbours.get(node.id)?.length ?? 0;
  const target = nodes.find((node) => node.kind === "target") ?? [...nodes].reverse().sort((a, b) => degree(b) - degree(a))[0];
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
    // Nodes of one box stay together.
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

/** Boxes must not cover nodes outside of them, so every box has a lane of its own. */
function lanesOf(layers: SceneNode[][]): (string | undefined)[] {
  const boxes = new Set(layers.flat().map((node) => node.parent));
  boxes.delete(undefined);
  return [undefined, ...boxes];
}

const LANE_GAP = 52;

/** The position of each node of a layer across the direction of the picture, and the total breadth. */
function across(layers: SceneNode[][], breadth: (node: SceneNode) => number, gap: (layer: SceneNode[]) => number): { at: Map<string, number>; total: number } {
  const lanes = lanesOf(layers);
  const members = (layer: SceneNode[], lane: string | undefined) => layer.filter((node) => node.parent === lane);
  const sum = (nodes: SceneNode[], layer: SceneNode[]) => nodes.reduce((total, node) => total + breadth(node), 0) + gap(layer) * Math.max(0, nodes.length - 1);
  const widths = lanes.map((lane) => Math.max(0, ...layers.map((layer) => sum(members(layer, lane), layer))));
  const total = widths.reduce((all, width) => all + width, 0) + LANE_GAP * (widths.filter((width) => width > 0).length - 1);
  const at = new Map<string, number>();
  layers.forEach((layer, index) => {
    let begin = -total / 2;
    lanes.forEach((lane, position) => {
      const nodes = members(layer, lane);
      const width = widths[position] ?? 0;
      // The last layer is that of the target, which stands in the middle.
      const middle = index === layers.length - 1 && nodes.length === layer.length ? 0 : begin + width / 2;
      let place = middle - sum(nodes, layer) / 2;
      for (const node of nodes) {
        at.set(node.id, place + breadth(node) / 2);
        place += breadth(node) + gap(layer);
      }
      begin += width + (width > 0 ? LANE_GAP : 0);
    });
  });
  return { at, total };
}

function toTheRight(layers: SceneNode[][], scene: Scene, measure: Measure, gaps: typeof GAPS): Layout {
  const places = new Map<string, Point>();
  const { at, total } = across(layers, (node) => measure.node(node).height, () => ROW_GAP);
  let x = 0;
  layers.forEach((layer, index) => {
    const width = Math.max(...layer.map((node) => measure.node(node).width));
    x += width / 2;
    for (const node of layer) {
      // In a scene with columns the outer ones are flush with their edges.
      const aside = (Math.sign(node.column ?? 0) * (width - measure.node(node).width)) / 2;
      places.set(node.id, { x: x - aside, y: at.get(node.id) ?? 0 });
    }
    const next = layers[index + 1];
    const space = (edge: SceneEdge) => (edge.text || edge.detail ? measure.edge(edge) + gaps.label : 0);
    const labels = next ? between(scene, layer, next).map(space) : [0];
    x += width / 2 + (next ? Math.max(gaps.layer, ...labels) : 0);
  });
  return { places, size: { width: Math.max(x, 1), height: total + 24 }, direction: "right" };
}

function downwards(layers: SceneNode[][], scene: Scene, measure: Measure): Layout {
  const places = new Map<string, Point>();
  const labels = layers.map((layer, index) => Math.max(0, ...between(scene, layer, layers[index + 1] ?? []).map(measure.edge)));
  const label = new Map(layers.map((layer, index) => [layer, labels[index] ?? 0]));
  const width = (node: SceneNode) => measure.node(node).width;
  // Beside an edge stands its text.
  const gap = (layer: SceneNode[]) => Math.max(ROW_GAP, (label.get(layer) ?? 0) - Math.min(...layer.map(width)) / 2 + 16);
  const { at, total } = across(layers, width, gap);
  let y = 0;
  layers.forEach((layer, index) => {
    const height = Math.max(...layer.map((node) => measure.node(node).height));
    for (const node of layer) places.set(node.id, { x: at.get(node.id) ?? 0, y: y + height / 2 });
    y += height + (layers[index + 1] ? DOWN_GAP : 0);
  });
  return { places, size: { width: Math.max(total, 2 * Math.max(...labels) + 24, 1), height: y }, direction: "down" };
}

/**
 * The places of a scene that follows another one. Nodes that stay keep their places; new ones are put where the layout
 * has them relative to those that stay, and are moved aside if the place is taken.
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
  const level = Math.abs(dx) > Math.abs(dy);
  const outwards = level ? normal.y * middle.y : normal.x * middle.x;
  const wrong = Math.abs(outwards) > 4 ? outwards < 0 : level ? normal.y > 0 : normal.x < 0;
  if (wrong) normal = { x: -normal.x, y: -normal.y };
  const distance = (Math.abs(normal.x) * text.width) / 2 + (Math.abs(normal.y) * text.height) / 2 + 3;
  return { x: normal.x * distance, y: normal.y * distance };
}
