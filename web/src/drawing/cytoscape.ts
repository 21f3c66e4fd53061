/** The picture itself. This file and Cytoscape are loaded with the first drawing. */
import cytoscape, { type Core, type ElementDefinition, type StylesheetJson } from "cytoscape";
import { placeTexts, type Box, type Line } from "./labels";
import { keepPlaces, layout, zoom, type Measure, type Point } from "./layout";
import { cutMiddle, type Scene, type SceneEdge, type SceneNode } from "./scene";

export interface Pick { kind: "node" | "edge"; id: string; x: number; y: number }

export interface Picture {
  show(scene: Scene, options?: { fresh?: boolean }): void;
  /** Call this when the colours have changed. */
  repaint(): void;
  /** Marks one edge or node; without an argument it removes the mark. */
  mark(id: string | null): void;
  /** Call this when the size or content of the picture has changed: everything must be visible, and visible nodes stay where they are. */
  settle(): void;
  /** Moves every node to its place in the layout. */
  tidy(): void;
  /** Where a node is on the screen, from the corner of the picture. */
  place(id: string): { x: number; y: number; width: number; height: number } | null;
  nodeAt(x: number, y: number): string | null;
  /** The height that the picture needs at its width. */
  wantedHeight(): number;
  destroy(): void;
}

export interface Listener {
  picked?(pick: Pick | null): void;
  hovered?(id: string | null, text: string | null, at: Point | null): void;
  changed?(): void;
}

const NODE_TEXT = 13;
const EDGE_TEXT = 12;
const LONGEST = { anchor: 26, variable: 30, target: 30, or: 4, group: 4, hub: 24 } as const;
const PADDING = 22;
/** How near to the edge a picture may come before it is moved. */
const MARGIN = 4;
/** How wide the buttons in the corner are, and how high the strip for them. */
const TOOLS = 128;
const STRIP = 26;

export function makePicture(element: HTMLElement, limits: { most: number; least: number; tools?: boolean }, listener: Listener): Picture {
  const cy = cytoscape({
    container: element,
    style: stylesheet(element),
    userZoomingEnabled: false,
    boxSelectionEnabled: false,
    autounselectify: true,
    minZoom: 0.35,
    maxZoom: 1.25,
  });
  const measure = measurer(element);
  let scene: Scene = { nodes: [], edges: [] };
  let renewed = true;

  cy.on("tap", (event) => {
    if (event.target === cy) return listener.picked?.(null);
    const { x, y } = event.renderedPosition;
    if (event.target.data("kind") === "group" || event.target.data("kind") === "join") return;
    listener.picked?.({ kind: event.target.isNode() ? "node" : "edge", id: event.target.id(), x, y });
  });
  cy.on("mouseover", "node, edge", (event) => {
    if (event.target.data("kind") === "join") return;
    const at = event.target.isNode() ? event.target.renderedPosition() : event.target.renderedMidpoint();
    // A tooltip is shown only if the whole text is not visible already.
    const whole = event.target.data("whole") as string;
    listener.hovered?.(event.target.id(), whole === event.target.data("text") ? null : whole, at);
  });
  cy.on("mouseout", "node, edge", () => listener.hovered?.(null, null, null));
  cy.on("position", "node", () => placeLabels(cy, measure));
  cy.on("position viewport", () => listener.changed?.());

  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const room = () => ({ width: Math.max(120, element.clientWidth - 2 * PADDING), height: limits.most - 2 * PADDING });
  /** The buttons in the corner need a strip of their own where the picture, in the middle, reaches below them. */
  const strip = () => {
    if (!limits.tools || cy.elements().empty()) return 0;
    const { w } = cy.elements().boundingBox();
    return (element.clientWidth - w * scale()) / 2 < TOOLS ? STRIP : 0;
  };
  /** How large the picture may be drawn. */
  const scale = () => {
    const { w, h } = cy.elements().boundingBox();
    return zoom({ width: Math.max(1, w), height: Math.max(1, h) }, room());
  };
  const fit = (animate: boolean) => {
    const elements = cy.elements();
    if (elements.empty()) return;
    const { x1, y1, w, h } = elements.boundingBox();
    const level = scale();
    const pan = { x: element.clientWidth / 2 - (x1 + w / 2) * level, y: (element.clientHeight + strip()) / 2 - (y1 + h / 2) * level };
    cy.stop();
    if (animate && !still.matches) cy.animate({ zoom: level, pan, duration: 180, easing: "ease-out" });
    else cy.viewport({ zoom: level, pan });
  };
  /** Whether everything is visible now. */
  const isWhole = () => {
    const { x1, x2, y1, y2 } = cy.elements().renderedBoundingBox();
    return x1 >= MARGIN && y1 >= MARGIN + strip() && x2 <= element.clientWidth - MARGIN && y2 <= element.clientHeight - MARGIN;
  };
  let width = element.clientWidth;
  return {
    show(next, { fresh = false } = {}) {
      const before = new Map(cy.nodes(":childless").map((node) => [node.id(), { ...node.position() }]));
      const plan = layout(next, measure, room());
      const places = fresh ? plan.places : keepPlaces(plan.places, before);
      scene = next;
      renewed = places === plan.places;
      cy.batch(() => {
        cy.elements().remove();
        cy.add(elementsOf(next, places, measure));
      });
      placeLabels(cy, measure);
      if (renewed) fit(false);
    },
    settle() {
      cy.resize();
      if (Math.abs(element.clientWidth - width) > 1) {
        width = element.clientWidth;
        this.tidy();
      } else if (renewed) {
        fit(false);
      } else if (!isWhole()) {
        fit(true);
      }
    },
    repaint() {
      cy.style(stylesheet(element));
      placeLabels(cy, measure);
    },
    mark(id) {
      cy.elements().removeClass("marked");
      if (id) cy.getElementById(id).addClass("marked");
    },
    tidy() {
      const plan = layout(scene, measure, room());
      cy.batch(() => plan.places.forEach((place, id) => cy.getElementById(id).position(place)));
      placeLabels(cy, measure);
      fit(false);
    },
    place(id) {
      const node = cy.getElementById(id);
      if (node.empty() || !node.isNode()) return null;
      const { x, y } = node.renderedPosition();
      return { x, y, width: node.renderedWidth(), height: node.renderedHeight() };
    },
    nodeAt(x, y) {
      const hit = cy.nodes().filter((node) => {
        if (node.isParent() || node.data("kind") === "or") return false;
        const at = node.renderedPosition();
        return Math.abs(at.x - x) <= node.renderedWidth() / 2 + 6 && Math.abs(at.y - y) <= node.renderedHeight() / 2 + 6;
      });
      return hit.nonempty() ? hit.first().id() : null;
    },
    wantedHeight() {
      const height = cy.elements().empty() ? 0 : cy.elements().boundingBox().h * scale() + 2 * PADDING + strip();
      return Math.round(Math.max(limits.least, Math.min(limits.most, height)));
    },
    destroy: () => cy.destroy(),
  };
}

function elementsOf(scene: Scene, places: Map<string, Point>, measure: Measure): ElementDefinition[] {
  const nodes = scene.nodes.map((node): ElementDefinition => {
    const { width, height } = measure.node(node);
    return {
      group: "nodes",
      data: { id: node.id, parent: node.parent, kind: node.kind, text: shown(node), whole: node.text, width, height },
      position: { ...(places.get(node.id) ?? { x: 0, y: 0 }) },
      grabbable: node.kind !== "group",
    };
  });
  const sided = scene.nodes.some((node) => node.column !== undefined);
  const edges = scene.edges.map((edge): ElementDefinition => ({
    group: "edges",
    data: {
      id: edge.id, source: edge.from, target: edge.to, kind: edge.kind, text: edgeText(edge), whole: wholeEdge(edge),
      negated: edge.negated ? "yes" : "no", backward: edge.backward ? "yes" : "no", sided: sided ? "yes" : "no", thickness: 1.25 + 2 * (edge.truth ?? 0.35),
    },
  }));
  return [...nodes, ...edges];
}

const shown = (node: SceneNode) => cutMiddle(node.text, node.longest ?? LONGEST[node.kind]);
const edgeText = (edge: SceneEdge) => [edge.negated ? "not" : "", cutMiddle(edge.text, 24), edge.detail ?? ""].filter(Boolean).join(" ");
const wholeEdge = (edge: SceneEdge) => {
  const standing = edge.kind === "asked" || edge.kind === "join" ? "" : edge.kind;
  return [edge.negated ? "not" : "", edge.text, edge.detail ?? "", standing].filter(Boolean).join(" ");
};

function placeLabels(cy: Core, measure: Measure) {
  const box = cy.nodes().boundingBox({ includeLabels: false });
  const centre = { x: (box.x1 + box.x2) / 2, y: (box.y1 + box.y2) / 2 };
  const edges = cy.edges().toArray().filter((edge) => !edge.isLoop());
  const lines = edges.map((edge): Line => {
    const text = edge.data("text") as string;
    return { from: edge.sourceEndpoint(), to: edge.targetEndpoint(), middle: edge.midpoint(), text: { width: text ? measure.edge({ text } as SceneEdge) : 0, height: 15 } };
  });
  // A node covers its box; a box around others, only the word above it.
  const boxes = cy.nodes().map((node): Box => {
    const { x1, y1, x2, y2 } = node.boundingBox({ includeLabels: false, includeOverlays: false });
    return node.isParent() ? { x1: (x1 + x2) / 2 - 14, x2: (x1 + x2) / 2 + 14, y1: y1 - 16, y2: y1 } : { x1, y1, x2, y2 };
  });
  const offsets = placeTexts(lines, boxes, centre);
  cy.batch(() => {
    edges.forEach((edge, index) => edge.style({ "text-margin-x": offsets[index]?.x ?? 0, "text-margin-y": offsets[index]?.y ?? 0 }));
    cy.edges().toArray().filter((edge) => edge.isLoop()).forEach((edge) => edge.style({ "text-margin-x": 0, "text-margin-y": -30 }));
  });
}

function measurer(element: HTMLElement): Measure {
  const context = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(element).fontFamily;
  const width = (text: string, size: number) => {
    if (!context) return text.length * size * 0.55;
    context.font = `${size}px ${family}`;
    return Math.ceil(context.measureText(text).width);
  };
  return {
    node(node) {
      const text = width(shown(node), NODE_TEXT);
      if (node.kind === "or") return { width: 34, height: 34 };
      if (node.kind === "hub") return { width: text + 10, height: 22 };
      if (node.kind === "anchor") return { width: text + 26, height: 32 };
      // A lone letter stands in a ring; a value stands in a longer one.
      return text < 30 ? { width: 40, height: 40 } : { width: text + 30, height: 34 };
    },
    edge: (edge) => width(edge.id ? edgeText(edge) : edge.text, EDGE_TEXT) + 4,
  };
}

function stylesheet(element: HTMLElement): StylesheetJson {
  const styles = getComputedStyle(element);
  const colour = (name: string) => styles.getPropertyValue(`--${name}`).trim();
  const family = styles.fontFamily;
  return [
    {
      selector: "node",
      style: {
        label: "data(text)", width: "data(width)", height: "data(height)", shape: "round-rectangle", "corner-radius": "16px",
        "font-family": family, "font-size": NODE_TEXT, "text-valign": "center", "text-halign": "center", color: colour("ink"),
        "background-color": colour("raised"), "border-width": 1.5, "border-color": colour("ink"), "overlay-opacity": 0,
      },
    },
    { selector: "node[kind = 'anchor']", style: { "background-color": colour("accent"), "border-color": colour("accent"), color: colour("on-accent") } },
    { selector: "node[kind = 'variable']", style: { "corner-radius": "20px" } },
    { selector: "node[kind = 'target']", style: { "corner-radius": "20px", "border-style": "double", "border-width": 5 } },
    {
      selector: "node[kind = 'or']",
      style: { shape: "diamond", "font-size": EDGE_TEXT, "background-color": colour("paper"), "border-color": colour("muted"), color: colour("ink") },
    },
    {
      selector: "node[kind = 'hub']",
      style: { "background-opacity": 0, "border-width": 0, "font-size": EDGE_TEXT, color: colour("ink"), "corner-radius": "4px" },
    },
    {
      selector: "node[kind = 'group']",
      style: {
        "background-color": colour("wrong"), "background-opacity": 0.05, "border-style": "dashed", "border-width": 1, "border-color": colour("wrong"),
        color: colour("wrong"), "text-valign": "top", "text-halign": "center", "text-margin-y": -2, padding: "12px", "font-size": EDGE_TEXT,
        "corner-radius": "8px",
      },
    },
    {
      selector: "edge",
      style: {
        label: "data(text)", width: "data(thickness)", "curve-style": "bezier", "control-point-step-size": 46, "line-color": colour("muted"),
        "target-arrow-color": colour("muted"), "target-arrow-shape": "triangle", "arrow-scale": 0.9, "font-family": family,
        "font-size": EDGE_TEXT, color: colour("ink"), "overlay-opacity": 0, "text-events": "yes",
      },
    },
    // Between columns lines leave on the right and arrive on the left, so that none runs behind a neighbour.
    { selector: "edge[sided = 'yes']", style: { "source-endpoint": "50% 0%", "target-endpoint": "-50% 0%", "arrow-scale": 0.7 } },
    { selector: "edge[backward = 'yes']", style: { "source-arrow-shape": "triangle", "target-arrow-shape": "none" } },
    { selector: "edge[kind = 'stored']", style: { "line-color": colour("stored"), "target-arrow-color": colour("stored"), "source-arrow-color": colour("stored") } },
    {
      selector: "edge[kind = 'predicted']",
      style: { "line-color": colour("predicted"), "target-arrow-color": colour("predicted"), "source-arrow-color": colour("predicted"), "line-style": "dashed", "line-dash-pattern": [6, 4] },
    },
    { selector: "edge[kind = 'join']", style: { "target-arrow-shape": "none", width: 1.5 } },
    {
      selector: "edge[negated = 'yes']",
      style: {
        "line-color": colour("wrong"), "target-arrow-color": colour("wrong"), color: colour("wrong"),
        "mid-target-arrow-shape": "tee", "mid-target-arrow-color": colour("wrong"), "arrow-scale": 1.25,
      },
    },
    { selector: "node.marked", style: { "border-color": colour("accent"), "underlay-color": colour("accent"), "underlay-opacity": 0.22, "underlay-padding": 5 } },
    { selector: "edge.marked", style: { "underlay-color": colour("accent"), "underlay-opacity": 0.22, "underlay-padding": 4 } },
  ] as StylesheetJson;
}
