// A small project for the tests: films that a model can learn something from, names that try to be markup, and a
// tangle of nodes in which a search can get lost.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const SCRIPT = "<script>window.hacked = 1</script>";
export const IMAGE = '<img src=x onerror="window.hacked = 1">';

/** A question whose search takes long on this graph: a ring of variables that no edge is trusted for. */
export const SLOW = "?A : exists B, C, D, E. links_to(A, B) and links_to(B, C) and follows(C, D) and follows(D, E) and links_to(E, A)";

const ACTORS = ["Ana Costa", "Ben Okafor", "Chloé Martin", "Dora Lindt", "Emil Sand", "Fay Ito", "Gus Holm", "Hana Kim", "Ivo Petrov", "Jo Marsh", "Kai Berg", "Lia Roth", "Max Vale", "Nia Bell", "Oto Frei"];
const DIRECTORS = ["Rosa Lang", "Sam Hardy", "Tess Ahn", "Ugo Neri", "Vera Moss"];
const GENRES = ["Comedy", "Crime", "Drama", "Romance", "Thriller", "Western"];

/** Makes the project, with two models or none, and returns its folder; `remove` takes it away. */
export function makeProject(relatum, { models = true } = {}) {
  const home = mkdtempSync(join(tmpdir(), "relatum-page-"));
  const run = (...args) => execFileSync(relatum, args, { stdio: ["ignore", "pipe", "pipe"], timeout: 120_000 });
  const graph = join(home, "films.tsv");
  const dir = join(home, "films");
  writeFileSync(graph, [...films(), ...tangle()].map((triple) => triple.join("\t")).join("\n") + "\n");
  run("init", dir, graph, "--split", "0.9/0.05/0.05");
  if (models) train();
  return { dir, remove: () => rmSync(home, { recursive: true, force: true }) };

  function train() {
    run("train", dir, "--rank", "16", "--epochs", "12", "--eval-every", "3", "--candidates", "256", "--seed", "1");
    run("train", dir, "--name", "other", "--rank", "8", "--epochs", "2", "--candidates", "64", "--seed", "2");
  }
}

function films() {
  const triples = [];
  for (let i = 0; i < 60; i++) {
    const film = `Film ${i + 1} (${1960 + i})`;
    const director = i % DIRECTORS.length;
    triples.push([film, "directed_by", DIRECTORS[director]]);
    for (const step of [3, 5, 7]) triples.push([film, "stars", ACTORS[(director * 3 + i * step) % ACTORS.length]]);
    // A director keeps to two genres; some films lack one, which a model can guess.
    triples.push([film, "has_genre", GENRES[director]]);
    if (i % 3 !== 0) triples.push([film, "has_genre", GENRES[director + 1]]);
  }
  triples.push(["Film 1 (1960)", "stars", SCRIPT], ["Film 2 (1961)", "stars", SCRIPT], ["Film 1 (1960)", "has_genre", IMAGE]);
  return triples;
}

function tangle() {
  // xorshift: the same edges on every machine.
  let state = 2463534242;
  const random = (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const node = () => `node ${random(3000)}`;
  return Array.from({ length: 24_000 }, (_, i) => [node(), i % 2 ? "links_to" : "follows", node()]);
}
