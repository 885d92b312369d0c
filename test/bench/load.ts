// Sends one request over and over for a while and says how fast the answers came: by wrk where it is installed, because it
// leaves the cores to the servers, else by autocannon. Refuses a run in which an answer had an unexpected status.

import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import autocannon from "autocannon";

export interface LoadRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A `@` in it stands for 1 and 2 in turn, so that every write of a path changes something. */
  readonly body?: string;
  /** Paths that the requests go round instead of the URL's own, so that they don't all meet on one object. */
  readonly paths?: readonly string[];
  /** Sent once before the load, so that what grows with each request begins anew, and never reaches its limit. */
  readonly first?: Omit<LoadRequest, "first" | "paths">;
}

/** What a proxy in front of the servers adds to every request. */
const forwarded = { "x-forwarded-for": "203.0.113.7" };

export interface LoadOptions {
  readonly connections: number;
  readonly seconds: number;
}

export interface Load {
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

export type Loader = (request: LoadRequest, options: LoadOptions) => Promise<Load>;

/** The best loader of this machine, with its name. */
export async function findLoader(): Promise<{ readonly name: string; readonly load: Loader }> {
  const hasWrk = await run("wrk", ["-v"]).then(
    () => true,
    () => false,
  );
  const [name, load] = hasWrk ? (["wrk", loadByWrk] as const) : (["autocannon", loadByAutocannon] as const);
  const loader: Loader = async (request, options) => {
    if (request.first !== undefined) await sendFirst(request.first);
    return await load(request, options);
  };
  return { name, load: loader };
}

async function sendFirst({ url, ...request }: LoadRequest): Promise<void> {
  const reply = await fetch(url, request);
  if (!reply.ok) throw new Error(`${url} answered with ${reply.status}`);
}

const loadByWrk: Loader = async (request, options) => {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-bench-"));
  try {
    const script = join(folder, "request.lua");
    await writeFile(script, wrkScript(request));
    const connections = String(options.connections);
    // What is slow is slow, and no error: wrk's own limit is two seconds.
    const args = ["-t1", `-c${connections}`, `-d${options.seconds}s`, "--timeout", "20s", "-s", script, request.url];
    const text = await run("wrk", args);
    const [, perSecond, p50, p99, errors, requests] = /RESULT (\S+) (\S+) (\S+) (\S+) (\S+)/.exec(text) ?? [];
    if (perSecond === undefined) throw new Error(`wrk printed no result:\n${text}`);
    if (Number(errors) > 0) throw new Error(`${errors} answers of ${request.url} were errors`);
    return {
      requests: Number(requests),
      perSecond: Number(perSecond),
      p50: Number(p50) / 1000,
      p99: Number(p99) / 1000,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
};

function wrkScript({ method = "GET", headers = {}, body, paths = [] }: LoadRequest): string {
  const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
  const lines = [`wrk.method = ${quoted(method)}`];
  for (const [name, value] of Object.entries({ ...forwarded, ...headers }))
    lines.push(`wrk.headers[${quoted(name)}] = ${quoted(value)}`);
  if (body !== undefined) lines.push(`wrk.body = ${quoted(body)}`);
  if (paths.length > 0) {
    lines.push(
      `local paths = {${paths.map(quoted).join(", ")}}`,
      `local bodies = {${bodiesOf(body).map(quoted).join(", ")}}`,
      // Made once: putting a request together takes wrk as long as bare fastify takes to answer it, on the cores that both share.
      "local requests = {}",
      "init = function()",
      "  for turn = 1, math.max(1, #bodies) do",
      "    for _, path in ipairs(paths) do",
      "      requests[#requests + 1] = wrk.format(nil, path, nil, bodies[turn])",
      "    end",
      "  end",
      "end",
      "local n = 0",
      "request = function()",
      "  n = n + 1",
      "  return requests[n % #requests + 1]",
      "end",
    );
  }
  lines.push(
    "done = function(summary, latency, requests)",
    "  local e = summary.errors",
    "  local bad = e.status + e.connect + e.read + e.write + e.timeout",
    "  local rate = summary.requests / (summary.duration / 1e6)",
    "  local p50, p99 = latency:percentile(50), latency:percentile(99)",
    '  print(string.format("RESULT %.1f %d %d %d %d", rate, p50, p99, bad, summary.requests))',
    "end",
  );
  return `${lines.join("\n")}\n`;
}

const loadByAutocannon: Loader = async (request, options) => {
  const result = await autocannon({
    url: request.url,
    method: (request.method ?? "GET") as "GET",
    headers: { ...forwarded, ...request.headers },
    ...(request.body !== undefined && { body: request.body.replaceAll("@", "1") }),
    ...(request.paths && { requests: rotation(request.paths, bodiesOf(request.body)) }),
    connections: options.connections,
    duration: options.seconds,
  });
  const bad = result.non2xx + result.errors;
  if (bad > 0) throw new Error(`${bad} answers of ${request.url} were errors`);
  return {
    requests: result.requests.total,
    perSecond: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
  };
};

/** Each path with each of the bodies. */
function rotation(paths: readonly string[], bodies: readonly string[]): { path: string; body: string }[] {
  return (bodies.length === 0 ? [""] : bodies).flatMap((body) => paths.map((path) => ({ path, body })));
}

function bodiesOf(body: string | undefined): readonly string[] {
  if (body === undefined) return [];
  return body.includes("@") ? [body.replaceAll("@", "1"), body.replaceAll("@", "2")] : [body];
}

function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on("error", reject);
    // wrk -v prints its version and ends with 1.
    child.on("close", (code) =>
      code === 0 || text.startsWith("wrk ") ? resolve(text) : reject(new Error(`${program} ended with ${code}`)),
    );
  });
}
