/** The same question as a command, an HTTP request and code. */
import { root } from "../api/client";
import { token } from "../api/token";
import type { AskBody, Reply } from "../api/types";
import { chosen } from "../state/settings";

const FLAGS: Record<string, string> = {
  model: "--model", method: "--method", k: "--k", paper: "--paper", either_side: "--either-side", t_norm: "--t-norm", calibration: "--calibration",
  negation_scale: "--negation-scale", unseen: "--unseen", known: "--known", top: "--top", new_only: "--new-only", max_seconds: "--timeout",
  max_rows: "--max-rows", max_branches: "--max-branches",
};

export function asCli(asked: AskBody, project = "DIR"): string {
  const { question, ...settings } = asked;
  const flags = chosen(settings).flatMap(([field, value]) => {
    if (field === "syntax") return value === "sparql" ? ["--sparql"] : [];
    const flag = FLAGS[field];
    if (!flag) return [];
    return value === true ? [flag] : [flag, quoted(String(value))];
  });
  return ["relatum", "ask", quoted(project), quoted(question), ...flags].join(" ");
}

export function asCurl(asked: AskBody): string {
  const secret = token.get() ? ` -H "authorization: Bearer $RELATUM_TOKEN"` : "";
  return `curl -s ${quoted(new URL("api/v1/ask", root).href)}${secret} -H 'content-type: application/json' -d ${quoted(JSON.stringify(asked))}`;
}

export function asPython(asked: AskBody): string {
  const secret = token.get() ? `, "authorization": "Bearer " + os.environ["RELATUM_TOKEN"]` : "";
  return `import json${secret ? ", os" : ""}
from urllib.request import Request, urlopen

body = json.loads(${JSON.stringify(JSON.stringify(asked))})
request = Request(${JSON.stringify(new URL("api/v1/ask", root).href)}, json.dumps(body).encode(), {"content-type": "application/json"${secret}})
reply = json.load(urlopen(request))
for answer in reply["answers"]:
    print(f'{answer["score"]:.4f}  {answer["text"]}')
`;
}

export function asCsv(reply: Reply): string {
  const rows: (string | number | null | undefined)[][] = [["rank", "name", "label", "score", "known"]];
  reply.answers.forEach((it, index) => rows.push([index + 1 + reply.offset, it.name, it.label, it.score, it.known === null ? "" : String(it.known)]));
  reply.relations?.forEach((it, index) => rows.push([index + 1, it.name, it.label, it.score, String(Boolean(it.known))]));
  if (reply.judged) rows.push([1, reply.question, "", reply.judged.truth, String(reply.judged.known ?? "")]);
  return rows.map((row) => row.map((cell) => field(String(cell ?? ""))).join(",")).join("\r\n") + "\r\n";
}

const field = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

/** For a POSIX shell. */
const quoted = (text: string) => (/^[\w./:=-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`);
