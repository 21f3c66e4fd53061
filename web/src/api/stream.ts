/** A question with the progress of its search: server-sent events from a POST, which EventSource cannot send. */
import { Failure, request } from "./client";
import type { AskBody, Problem, Progress, Reply } from "./types";

/** Asks, reports progress, and resolves with the reply. Aborting the signal closes the connection, which stops the search. */
export async function askAndWatch(body: AskBody, onProgress: (progress: Progress) => void, signal: AbortSignal): Promise<Reply> {
  const response = await request("ask/stream", {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    signal,
  });
  if (!response.body) throw new Error("the answer has no body");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    buffer += value;
    for (let end = endOfEvent(buffer); end; end = endOfEvent(buffer)) {
      const { name, data } = parse(buffer.slice(0, end.at));
      buffer = buffer.slice(end.next);
      if (name === "progress") onProgress(JSON.parse(data) as Progress);
      if (name === "reply") return JSON.parse(data) as Reply;
      if (name === "problem") throw new Failure("problem", JSON.parse(data) as Problem);
    }
  }
  throw new Failure("lost", { type: "about:blank", title: "The connection ended before the answer came", status: 0, detail: "", request_id: "" });
}

function endOfEvent(buffer: string): { at: number; next: number } | null {
  const match = /\r?\n\r?\n/.exec(buffer);
  return match ? { at: match.index, next: match.index + match[0].length } : null;
}

function parse(event: string): { name: string; data: string } {
  let name = "message";
  const data: string[] = [];
  for (const line of event.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, "");
    if (line.startsWith("event:")) name = value;
    if (line.startsWith("data:")) data.push(value);
  }
  return { name, data: data.join("\n") };
}
