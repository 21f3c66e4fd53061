/** The question, its check, its search and its answers. */
import { failureOf, server, type Failure } from "../api/client";
import { askAndWatch } from "../api/stream";
import type { AskBody, AskSettings, Check, Example, Progress, Reply } from "../api/types";
import { address, currentRoute, go } from "../router";
import { connection } from "./connection";
import { remember } from "./history";
import { chosen, settingsFrom, writeSettings } from "./settings";
import { createStore } from "./store";

/** A search that runs. */
interface Running { began: number; progress: Progress | null }
/** The result of explaining an answer. */
export type Reason = { state: "loading" } | { state: "there"; reply: Reply } | { state: "failed"; failure: Failure };

interface State {
  question: string;
  settings: AskSettings;
  examples: Example[] | null;
  /** The report on the text in `checked`. */
  check: Check | null;
  checked: string;
  running: Running | null;
  /** What was asked; answers belong to it, not to the text that is being typed. */
  asked: AskBody | null;
  reply: Reply | null;
  elapsed: number;
  failure: Failure | null;
  /** The best so far of a search that somebody stopped. */
  stopped: Progress | null;
  /** The answer that is looked at, by its name. */
  selected: string | null;
  reasons: ReadonlyMap<string, Reason>;
}

export const askState = createStore<State>({
  question: "", settings: {}, examples: null, check: null, checked: "", running: null, asked: null, reply: null, elapsed: 0,
  failure: null, stopped: null, selected: null, reasons: new Map(),
});

const CHECK_AFTER_MS = 150;
let checking: AbortController | null = null;
let checkTimer: ReturnType<typeof setTimeout> | undefined;
let searching: AbortController | null = null;

/** The text has changed; the check follows. */
export function setQuestion(question: string, now = false) {
  if (question === askState.get().question && askState.get().checked === question) return;
  askState.set({ question });
  clearTimeout(checkTimer);
  checkTimer = setTimeout(() => void check(), now ? 0 : CHECK_AFTER_MS);
}

export function setSettings(settings: AskSettings) {
  askState.set({ settings });
  clearTimeout(checkTimer);
  checkTimer = setTimeout(() => void check(), CHECK_AFTER_MS);
}

async function check() {
  const { question, settings } = askState.get();
  checking?.abort();
  if (!question.trim()) {
    askState.set({ check: null, checked: question });
    return;
  }
  checking = new AbortController();
  const { signal } = checking;
  try {
    const found = await server.check({ ...given(settings), question }, signal);
    if (!signal.aborted) askState.set({ check: found, checked: question });
  } catch {
    // If the check fails, the last picture stays; asking shows the reason.
  }
}

/** Searches. The answers come with `reply`, their reasons when they are looked at. */
export async function ask(options: { select?: string | null; keepAddress?: boolean } = {}) {
  const { question, settings } = askState.get();
  if (!question.trim()) return;
  searching?.abort();
  const mine = (searching = new AbortController());
  const asked: AskBody = { ...given(settings), question };
  const began = performance.now();
  askState.set({ running: { began, progress: null }, asked, failure: null, stopped: null });
  if (!options.keepAddress) go("ask", addressQuery(asked, null));
  const current = () => searching === mine && !mine.signal.aborted;
  try {
    const reply = await askAndWatch(asked, (progress) => {
      if (current()) askState.set({ running: { began, progress } });
    }, mine.signal);
    if (!current()) return;
    remember(question, settings);
    const selected = options.select && reply.answers.some((it) => it.name === options.select) ? options.select : null;
    askState.set({ reply, elapsed: performance.now() - began, running: null, selected, reasons: new Map() });
    if (reply.asked === "truth") void explainStatement(asked, reply);
    else if (selected) void explain(selected);
    else if (isWide()) selectFirst();
  } catch (error) {
    if (!current()) return;
    const failure = failureOf(error);
    askState.set({ failure, running: null, reply: null, selected: null, reasons: new Map() });
    if (failure.kind === "lost") connection.onceFound(() => void ask({ ...options, keepAddress: true }));
  }
}

/** Stops the search and keeps the best answers so far. */
export function stop() {
  const { running } = askState.get();
  if (!running) return;
  searching?.abort();
  searching = null;
  askState.set({ running: null, reply: null, stopped: running.progress ?? { rows: 0, proven: 0, wanted: 0, best: [], elapsed_ms: 0 }, selected: null, elapsed: performance.now() - running.began });
}

/** Selects an answer, or none. */
export function select(name: string | null) {
  if (askState.get().selected === name) return;
  askState.set({ selected: name });
  const { asked } = askState.get();
  if (asked) go("ask", addressQuery(asked, name), true);
  if (name) void explain(name);
}

/** On a wide page the best answer is explained at once; the address does not change. */
function selectFirst() {
  const first = askState.get().reply?.answers[0];
  if (!first) return;
  askState.set({ selected: first.name });
  void explain(first.name);
}

async function explain(name: string) {
  const { asked, reasons, reply } = askState.get();
  if (!asked || reasons.has(name)) return;
  const put = (reason: Reason) => {
    if (askState.get().reply === reply) askState.set({ reasons: new Map(askState.get().reasons).set(name, reason) });
  };
  put({ state: "loading" });
  try {
    put({ state: "there", reply: await server.explain({ ...asked, entity: name }) });
  } catch (error) {
    put({ state: "failed", failure: failureOf(error) });
  }
}

/** A statement has no answer to choose: its reasons come by themselves. */
async function explainStatement(asked: AskBody, before: Reply) {
  try {
    const reply = await server.ask({ ...asked, explain: true });
    if (askState.get().reply === before) askState.set({ reply });
  } catch {
    // The truth is shown already; only the reasons of its parts are missing.
  }
}

export const isWide = () => matchMedia("(min-width: 960px)").matches;

const given = (settings: AskSettings): AskSettings => Object.fromEntries(chosen(settings));

function addressQuery({ question, ...settings }: AskBody, answer: string | null): URLSearchParams {
  const query = new URLSearchParams({ q: question });
  writeSettings(settings, query);
  if (answer !== null) query.set("answer", answer);
  return query;
}

/** A link that restores the question, the settings and the answer that is looked at. */
export function shareLink(): string {
  const { asked, question, settings, selected } = askState.get();
  return address("ask", addressQuery(asked ?? { ...given(settings), question }, asked ? selected : null));
}

/** What the address says. Without a question the first example is written, ready to be asked. */
export function restore() {
  const { view, query } = currentRoute();
  if (view !== "ask") return;
  const question = query.get("q");
  const answer = query.get("answer");
  if (question === null) {
    offerExample();
    return;
  }
  const { asked } = askState.get();
  const settings = settingsFrom(query);
  // A question that this page has already asked is not asked again.
  if (asked && addressQuery(asked, answer).toString() === addressQuery({ ...given(settings), question }, answer).toString()) {
    setQuestion(question, true);
    if (answer !== askState.get().selected && answer) {
      askState.set({ selected: answer });
      void explain(answer);
    }
    return;
  }
  askState.set({ settings });
  setQuestion(question, true);
  if (query.get("ask") !== "no") void ask({ select: answer, keepAddress: true });
}

function offerExample() {
  const { question, examples } = askState.get();
  // A path with a variable in between shows better what the engine does than a single edge.
  const first = examples?.find((it) => it.shape === "2p") ?? examples?.[0];
  if (!question && first) setQuestion(first.question, true);
}

/** Examples of the graph that is loaded. */
export async function loadExamples() {
  try {
    askState.set({ examples: await server.examples() });
    if (currentRoute().view === "ask" && !currentRoute().query.has("q")) offerExample();
  } catch {
    askState.set({ examples: [] });
    connection.onceFound(() => void loadExamples());
  }
}

/** Writes a question and goes to it; `run` asks it, too. */
export function openQuestion(question: string, run: boolean, settings: AskSettings = askState.get().settings) {
  askState.set({ settings });
  setQuestion(question, true);
  if (run) void ask();
  else go("ask");
}
