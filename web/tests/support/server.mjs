// The real server on a free port.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import http from "node:http";
import { extname, join, normalize } from "node:path";

/** Starts `relatum serve`. With `page`, the files of a folder are shown in place of those in the binary. */
export async function startServer(relatum, dir, { port = 0, flags = [], page = process.env.RELATUM_PAGE } = {}) {
  const process_ = spawn(relatum, ["serve", dir, "--listen", `127.0.0.1:${page ? 0 : port}`, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const hear = (chunk) => {
      said += chunk;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found) resolve(`${found[0]}/`);
    };
    process_.stdout.on("data", hear);
    process_.stderr.on("data", hear);
    process_.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
    setTimeout(() => reject(new Error(`the server did not say where it listens: ${said}`)), 60_000).unref();
  });
  const front = page ? await showFiles(page, new URL(url), port) : null;
  const stop = () => new Promise((resolve) => {
    front?.closeAllConnections();
    front?.close();
    if (process_.exitCode !== null) return resolve();
    process_.once("exit", resolve);
    process_.kill("SIGKILL");
  });
  return { url: front ? `http://127.0.0.1:${front.address().port}/` : url, stop };
}

const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** The page of a folder before the API of a server, under the server's own policy. */
async function showFiles(folder, server, port) {
  const policy = (await fetch(server)).headers.get("content-security-policy");
  const front = http.createServer((request, response) => {
    const path = new URL(request.url, server).pathname;
    if (/^\/(?:api|healthz|openapi|docs|sparql|mcp)/.test(path)) {
      const onward = http.request({ host: server.hostname, port: server.port, path: request.url, method: request.method, headers: request.headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      });
      onward.on("error", () => response.destroy());
      response.on("close", () => onward.destroy());
      request.pipe(onward);
      return;
    }
    const file = join(folder, normalize(path));
    const name = existsSync(file) && statSync(file).isFile() ? file : join(folder, "index.html");
    response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream", "content-security-policy": policy });
    response.end(readFileSync(name));
  });
  await new Promise((resolve) => front.listen(port, "127.0.0.1", resolve));
  return front;
}
