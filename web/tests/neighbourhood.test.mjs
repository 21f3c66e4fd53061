// The picture of an entity and its neighbours, where there is room and where there is little.
import assert from "node:assert/strict";
import { it } from "node:test";
import { sources } from "./support/sources.mjs";

const { layout, neighbourhood, zoom, cutMiddle } = await sources("explore/neighbourhood.ts", "drawing/layout.ts", "drawing/scene.ts");

const film = (number) => `A Film with Quite a Long Name, Part ${number} (1999)`;
const edge = (number, other) => ({ head: film(number), head_text: film(number), tail: other, tail_text: other });
const named = (name, id) => ({ id, name, text: name });
const person = {
  kind: "entity", id: 0, name: "Alexandrina Featherstone", text: "Alexandrina Featherstone",
  relations: [
    { relation: "has_in_its_cast", relation_text: "has_in_its_cast", direction: "incoming", count: 30, edges: Array.from({ length: 12 }, (_, i) => edge(i, "Alexandrina Featherstone")) },
    { relation: "was_born_in", relation_text: "was_born_in", direction: "outgoing", count: 1, edges: [{ head: "Alexandrina Featherstone", head_text: "Alexandrina Featherstone", tail: "Stratford", tail_text: "Stratford" }] },
  ],
  predicted: [{ subject: named(film(40), 40), relation: named("has_in_its_cast", 1), object: named("Alexandrina Featherstone", 0), truth: 0.5 }],
};
/** Seven pixels a letter, as the page has them at most. */
const LETTER = 7;
const measure = {
  node: (node) => ({ width: LETTER * [...cutMiddle(node.text, node.longest ?? 30)].length + (node.kind === "hub" ? 10 : 30), height: 34 }),
  edge: (edge) => LETTER * (edge.detail ?? "").length + 4,
};
/** What a phone of 375 pixels leaves for a picture. */
const PHONE = { width: 305, height: 516 };

it("is legible on a phone, with every neighbour on one side", () => {
  const scene = neighbourhood(person, true);
  assert.ok(scene.nodes.every((node) => node.column >= 0));
  const { size } = layout(scene, measure, PHONE);
  assert.ok(zoom(size, PHONE) > 0.65, `letters shrink to ${zoom(size, PHONE)}`);
  const wide = layout(neighbourhood(person), measure, PHONE);
  assert.ok(zoom(wide.size, PHONE) < 0.5, "which two sides would not be");
});

it("says on a phone, too, which way an edge leads", () => {
  const scene = neighbourhood(person, true);
  const hubs = scene.nodes.filter((node) => node.kind === "hub").map((node) => node.text);
  assert.deepEqual(hubs, ["← has_in_its_cast (30)", "was_born_in", "← has_in_its_cast?"]);
  const into = (id) => scene.edges.find((it) => it.to === id);
  const [incoming, outgoing] = scene.nodes.filter((node) => node.kind === "hub");
  assert.deepEqual([into(incoming.id).backward, into(outgoing.id).backward], [true, false]);
});

it("has what leads to it on the left and what it leads to on the right, where there is room", () => {
  const scene = neighbourhood(person);
  const columns = new Map(scene.nodes.map((node) => [node.text, node.column]));
  assert.deepEqual([columns.get(film(0)), columns.get("Alexandrina Featherstone"), columns.get("Stratford")], [-2, 0, 2]);
  assert.ok(scene.edges.every((it) => !it.backward));
});
