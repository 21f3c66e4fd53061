/** Calls to the server. Every failure is a `Failure`, whatever went wrong. */
import type {
  AskBody, Check, Completion, Description, Example, Found, GraphStats, Info, ModelDetails, Models, Problem, Quality, RelationStats, Reply,
} from "./types";
import { token } from "./token";
import { connection } from "../state/connection";

/** The root of the page; its own addresses are one segment deep. */
export const root = new URL(".", location.href);
const api = new URL("api/v1/", root);

/** Why a call failed. */
export class Failure extends Error {
  constructor(
    /** `lost`: the server did not answer; `problem`: it refused. */
    readonly kind: "lost" | "problem",
    readonly problem: Problem,
  ) {
    super(problem.detail || problem.title);
  }
}

export const server = {
  ask: (body: AskBody, signal?: AbortSignal) => post<Reply>("ask", body, signal),
  explain: (body: AskBody & { entity: string }, signal?: AbortSignal) => post<Reply>("explain", body, signal),
  check: (body: AskBody, signal?: AbortSignal) => post<Check>("check", body, signal),
  plan: (body: AskBody) => post<Check>("plan", body),
  complete: (text: string, cursor: number, signal?: AbortSignal) => post<Completion>("complete", { text, cursor }, signal),
  find: (text: string, limit: number, signal?: AbortSignal) => get<Found>("find", { text, limit }, signal),
  describe: (
    query: { name: string; limit?: number; offset?: number; relation?: string; direction?: string; predicted?: boolean },
    signal?: AbortSignal,
  ) => get<Description>("describe", query, signal),
  relations: () => get<RelationStats[]>("relations"),
  graph: () => get<GraphStats>("graph"),
  models: () => get<Models>("models"),
  model: (name: string) => get<ModelDetails>(`models/${encodeURIComponent(name)}`),
  quality: (name: string) => get<Quality>(`models/${encodeURIComponent(name)}/quality`),
  chooseModel: (name: string) => call<Models>("models/default", { method: "PUT", ...json({ name }) }),
  info: () => get<Info>("info"),
  examples: async () => (await get<{ examples: Example[] }>("examples")).examples,
};

function get<T>(path: string, query: Record<string, unknown> = {}, signal?: AbortSignal): Promise<T> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== false);
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return call<T>(text ? `${path}?${text}` : path, { signal });
}

function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return call<T>(path, { method: "POST", ...json(body), signal });
}

function json(body: unknown): RequestInit {
  return { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

async function call<T>(path: string, init: RequestInit): Promise<T> {
  return (await (await request(path, init)).json()) as T;
}

/** A response that is not an error. */
export async function request(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  const bearer = token.get();
  if (bearer) headers.set("authorization", `Bearer ${bearer}`);
  let response: Response;
  try {
    response = await fetch(new URL(path, api), { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    connection.lose();
    throw new Failure("lost", { type: "about:blank", title: "The server does not answer", status: 0, detail: "", request_id: "" });
  }
  connection.found();
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401) token.wanted();
  throw new Failure("problem", problem);
}

async function problemOf(response: Response): Promise<Problem> {
  const plain: Problem = { type: "about:blank", title: response.statusText || "The server refused", status: response.status, detail: "", request_id: "" };
  try {
    const text = await response.text();
    if (response.headers.get("content-type")?.includes("json")) return { ...plain, ...(JSON.parse(text) as Problem) };
    return { ...plain, detail: text.slice(0, 500) };
  } catch {
    return plain;
  }
}

/** Turns whatever was thrown into a failure that can be shown. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Failure("problem", { type: "about:blank", title: "The page could not read the answer", status: 0, detail, request_id: "" });
}
