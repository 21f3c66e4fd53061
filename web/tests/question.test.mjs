// Questions as trees: written, changed, drawn. What is written is read back by the engine itself.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeProject } from "./support/project.mjs";
import { startServer } from "./support/server.mjs";
import { sources } from "./support/sources.mjs";

const relatum = process.env.RELATUM_BIN;
if (!relatum) throw new Error("RELATUM_BIN must name the relatum binary: RELATUM_BIN=../target/debug/relatum npm test");

const page = await sources(
  "question/formula.ts", "question/write.ts", "question/edit.ts", "question/name.ts", "drawing/question-scene.ts", "drawing/layout.ts", "drawing/labels.ts", "drawing/scene.ts", "editor/bytes.ts", "parts/text.ts",
);
const { add, atoms, either, freshVariable, negate, questionScene, remove, seek, write, written } = page;

const variable = (text) => ({ kind: "variable", text });
const entity = (text) => ({ kind: "entity", text });
const atom = (relation, subject, object) => ({ kind: "atom", relation, relation_text: relation, subject, object });
const and = (...parts) => ({ kind: "and", parts });
const or = (...parts) => ({ kind: "or", parts });
const not = (part) => ({ kind: "not", part });
const exists = (variables, part) => ({ kind: "exists", variables, part });

const starsAna = atom("stars", variable("F"), entity('"Ana Costa"'));
const genre = atom("has_genre", variable("F"), variable("G"));
const twoSteps = { target: "G", formula: exists(["F"], and(starsAna, genre)) };

describe("a change of a question", () => {
  it("adds a condition where its variables are known, with a new variable", () => {
    const fresh = freshVariable(twoSteps);
    const changed = add(twoSteps, atom("directed_by", variable("F"), variable(fresh)), [[]], [fresh]);
    assert.equal(write(changed), '?G : exists F, X. stars(F, "Ana Costa") and has_genre(F, G) and directed_by(F, X)');
    const first = add({ target: "X", formula: null }, atom("stars", variable("X"), entity("Ben")), [], []);
    assert.equal(write(first), "?X : stars(X, Ben)");
  });

  it("adds to the alternative that a variable lives in, and refuses to join two of them", () => {
    const question = { target: "G", formula: or(exists(["F"], and(starsAna, genre)), exists(["H"], atom("r", variable("H"), variable("G")))) };
    const more = add(question, atom("s", variable("H"), entity("x1y")), [[1], []], []);
    assert.equal(write(more), '?G : (exists F. stars(F, "Ana Costa") and has_genre(F, G)) or (exists H. r(H, G) and s(H, x1y))');
    assert.throws(() => add(question, atom("s", variable("H"), variable("F")), [[1], [0]], []), /different alternatives/);
  });

  it("negates and back, and removes with the variables that are left over", () => {
    const negated = negate(twoSteps, [0, 1]);
    assert.equal(write(negated), '?G : exists F. stars(F, "Ana Costa") and not has_genre(F, G)');
    assert.deepEqual(negate(negated, [0, 1, 0]), twoSteps);
    assert.equal(write(remove(twoSteps, [0, 0])), "?G : exists F. has_genre(F, G)");
    const one = { target: "G", formula: exists(["F"], and(atom("r", entity("abc"), variable("G")), genre)) };
    assert.equal(write(remove(one, [0, 1])), "?G : r(abc, G)");
    assert.equal(write(remove({ target: "F", formula: starsAna }, [])), "?F : ");
  });

  it("makes an atom one of two alternatives, and a third joins them", () => {
    const two = either(twoSteps, [0, 0], atom("stars", variable("F"), entity("Ben")));
    assert.equal(write(two), '?G : exists F. (stars(F, "Ana Costa") or stars(F, Ben)) and has_genre(F, G)');
    const three = either(two, [0, 0, 1], atom("stars", variable("F"), entity("Kim")));
    assert.equal(write(three), '?G : exists F. (stars(F, "Ana Costa") or stars(F, Ben) or stars(F, Kim)) and has_genre(F, G)');
  });

  it("asks for another variable", () => {
    assert.equal(write(seek(twoSteps, "F")), '?F : exists G. stars(F, "Ana Costa") and has_genre(F, G)');
    assert.throws(() => seek({ target: "G", formula: not(exists(["F"], genre)) }, "F"), /in one part of the question only/);
  });
});

describe("a drawing", () => {
  it("has a node for every name and variable, a split for an or, and a box for what is negated", () => {
    const scene = questionScene({
      target: "A",
      formula: exists(["F"], and(or(atom("d", variable("F"), entity("one")), atom("d", variable("F"), entity("two"))), atom("s", variable("F"), variable("A")), not(exists(["H"], atom("s", variable("H"), variable("A")))), not(atom("g", variable("F"), entity("x"))))),
    });
    const kinds = Object.groupBy ? Object.groupBy(scene.nodes, (it) => it.kind) : scene.nodes.reduce((all, it) => ({ ...all, [it.kind]: [...(all[it.kind] ?? []), it] }), {});
    assert.deepEqual(kinds.anchor.map((it) => it.text), ["one", "two", "x"]);
    assert.deepEqual(kinds.target.map((it) => it.text), ["A"]);
    assert.equal(kinds.or.length, 1);
    assert.equal(kinds.variable.find((it) => it.text === "H").parent, kinds.group[0].id);
    assert.deepEqual(scene.edges.filter((it) => it.negated).map((it) => it.text), ["g"]);
    const joined = scene.edges.filter((it) => it.from === kinds.or[0].id || it.to === kinds.or[0].id);
    assert.equal(joined.length, 3, "both alternatives end at the split, which leads to F");
  });

  it("tells the edges of one alternative from alternatives", () => {
    const [one, two, three] = ["one", "two", "three"].map((name) => atom("r", variable("A"), entity(name)));
    const meetings = (formula) => questionScene({ target: "A", formula }).nodes.filter((it) => it.kind === "or").map((it) => it.text);
    assert.deepEqual(meetings(or(one, two, three)), ["or"]);
    assert.deepEqual(meetings(or(one, and(two, three))), ["or", "and"]);
    const { edges } = questionScene({ target: "A", formula: or(one, and(two, three)) });
    assert.equal(edges.filter((it) => it.to === "or:" || it.from === "or:").length, 3, "one edge, the meeting of the others, and the way to A");
  });

  it("keeps two variables of one name apart", () => {
    const branch = (name) => exists(["F"], atom("r", variable("F"), entity(name)));
    const scene = questionScene({ target: null, formula: or(branch("one"), branch("two")) });
    assert.equal(scene.nodes.filter((it) => it.text === "F").length, 2);
  });

  it("keeps the places of nodes that stay, and moves a new one aside", () => {
    const before = new Map([["a", { x: 0, y: 0 }], ["b", { x: 100, y: 0 }]]);
    const fresh = new Map([["a", { x: 10, y: 5 }], ["b", { x: 110, y: 5 }], ["c", { x: 115, y: 10 }]]);
    const places = page.keepPlaces(fresh, before);
    assert.deepEqual(places.get("a"), { x: 0, y: 0 });
    assert.deepEqual(places.get("b"), { x: 100, y: 0 });
    assert.ok(Math.abs(places.get("c").y) >= 44, JSON.stringify(places.get("c")));
    assert.equal(page.keepPlaces(new Map([["x", { x: 1, y: 1 }]]), before).get("x").x, 1);
  });

  it("never lays the text of an edge on its line", () => {
    const size = { width: 80, height: 15 };
    for (let turn = 0; turn < 24; turn++) {
      const angle = (turn / 24) * 2 * Math.PI;
      const to = { x: 120 * Math.cos(angle), y: 120 * Math.sin(angle) };
      const { x, y } = page.labelOffset({ x: -to.x, y: -to.y }, to, size, { x: 0, y: 400 });
      // The distance of the line from the nearest corner of the text.
      const corners = [-1, 1].flatMap((a) => [-1, 1].map((b) => (x + (a * size.width) / 2) * Math.sin(angle) - (y + (b * size.height) / 2) * Math.cos(angle)));
      assert.ok(Math.min(...corners) > 1 || Math.max(...corners) < -1, `${turn}: ${corners}`);
    }
  });
});

describe("the texts of edges", () => {
  const text = { width: 80, height: 15 };
  const centre = { x: 0, y: 0 };
  const boxes = (lines, offsets) => lines.map(({ middle }, index) => {
    const { x, y } = offsets[index];
    return { x1: middle.x + x - 40, x2: middle.x + x + 40, y1: middle.y + y - 7.5, y2: middle.y + y + 7.5 };
  });
  const apart = (a, b) => a.x2 <= b.x1 || b.x2 <= a.x1 || a.y2 <= b.y1 || b.y2 <= a.y1;

  it("move aside where a node stands beside the middle of their line", () => {
    const lines = [{ from: { x: -200, y: 0 }, to: { x: 200, y: 0 }, middle: { x: 0, y: 0 }, text }];
    const nodes = [{ x1: -60, y1: -40, x2: 60, y2: -5 }, { x1: -60, y1: 5, x2: 60, y2: 40 }];
    const [box] = boxes(lines, page.placeTexts(lines, nodes, centre));
    for (const node of nodes) assert.ok(apart(box, node), JSON.stringify(box));
  });

  it("of two edges between one pair do not cover each other", () => {
    for (const bend of [0, 6, 20]) {
      const lines = [-bend, bend].map((y) => ({ from: { x: -60, y: 0 }, to: { x: 60, y: 0 }, middle: { x: 0, y }, text }));
      const [one, other] = boxes(lines, page.placeTexts(lines, [], centre));
      assert.ok(apart(one, other), `${bend}: ${JSON.stringify([one, other])}`);
    }
  });
});

it("counts bytes as the server does", () => {
  const text = 'a é 日 😀 "x"';
  for (let index = 0; index <= text.length; index++) {
    if (/[\uDC00-\uDFFF]/.test(text[index] ?? "")) continue;
    assert.equal(page.indexOfByte(text, page.bytesBefore(text, index)), index);
  }
  assert.equal(page.indexOfByte(text, 999), text.length);
});

it("writes numbers with three digits and cuts names in the middle", () => {
  assert.deepEqual([1, 0.9994, 0.1333, 0.001, 0.00003, 0].map(page.number), ["1.00", ".999", ".133", ".001", "3e−5", "0"]);
  assert.equal(page.cutMiddle("short", 10), "short");
  assert.equal(page.cutMiddle("A Thin Line Between Love and Hate (1996)", 20), "A Thin Line…(1996)");
});

describe("the engine", () => {
  let project, server;
  before(async () => {
    project = makeProject(relatum, { models: false });
    server = await startServer(relatum, project.dir);
  });
  after(async () => {
    await server?.stop();
    project?.remove();
  });
  const check = async (question) => {
    const answer = await fetch(new URL("api/v1/check", server.url), { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ question }) });
    return answer.json();
  };

  it("reads back every question that the page writes", async () => {
    let state = 12345;
    const random = (below) => {
      state = (Math.imul(state, 48271) >>> 0) % 2147483647;
      return state % below;
    };
    const grow = (depth, names) => {
      const term = () => (random(3) ? variable(names[random(names.length)]) : entity(written(["Ana Costa", "Comedy", 'a "b" \\ c', "Film 1 (1960)"][random(4)])));
      if (depth === 0) return atom(["stars", "has_genre", "directed_by"][random(3)], variable(names[random(names.length)]), term());
      const parts = () => Array.from({ length: 2 + random(2) }, () => grow(depth - 1, names));
      switch (random(5)) {
        case 0: return and(...parts().filter((it) => it.kind !== "and"), grow(0, names), grow(0, names));
        case 1: return or(...parts().filter((it) => it.kind !== "or"), grow(0, names), grow(0, names));
        case 2: return not(grow(0, names));
        case 3: {
          const fresh = `V${names.length}`;
          const inner = grow(depth - 1, [...names, fresh]);
          return exists([fresh], and(...(inner.kind === "and" ? inner.parts : [inner]), atom("stars", variable(fresh), variable(names[0]))));
        }
        default: return grow(depth - 1, names);
      }
    };
    for (let round = 0; round < 150; round++) {
      const formula = grow(3, ["T"]);
      const text = write({ target: "T", formula });
      const found = await check(text);
      assert.ok(found.formula, `${text}: ${JSON.stringify(found.diagnostics)}`);
      assert.deepEqual(bare(found.formula), bare(formula), text);
    }
  });

  it("finds the part that a suggestion is about, in bytes", async () => {
    const text = '?F : stars(F, "Chloé Martn") and has_genre(F, Comdy)';
    const { diagnostics } = await check(text);
    const [first] = diagnostics.flatMap((it) => it.suggestions);
    const [from, to] = [first.span.start.byte, first.span.end.byte].map((byte) => page.indexOfByte(text, byte));
    assert.equal(text.slice(from, to), '"Chloé Martn"');
    assert.equal(first.replacement, '"Chloé Martin"');
  });
});

/** A formula without places, names of the graph and nested quantifiers of one kind, which are one to the engine. */
function bare(formula) {
  switch (formula.kind) {
    case "atom":
      return [formula.relation_text, ...[formula.subject, formula.object].map((it) => `${it.kind} ${it.text}`)];
    case "not":
      return ["not", bare(formula.part)];
    case "exists": {
      const inner = formula.part.kind === "exists" ? { ...formula.part, variables: [...formula.variables, ...formula.part.variables] } : null;
      return inner ? bare(inner) : ["exists", formula.variables, bare(formula.part)];
    }
    default:
      return [formula.kind, ...formula.parts.map(bare)];
  }
}
