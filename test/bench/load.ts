// Sends one request again and again for some seconds by wrk, and measures how fast it is answered.
// Refuses a run in which a response had an unexpected status.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOrThrow } from "../../tools/parts/run-command.ts";

export interface LoadRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * A `@` in it stands for 1 and 2 in turn, so that every write of a path changes something; a `#`
   * for text that never comes twice.
   */
  readonly body?: string;
  /** Used in turn instead of the URL's own, so that requests don't all meet on one object. */
  readonly paths?: readonly string[];
  /** Sent once before the load: it empties what grows with each request. */
  readonly first?: Omit<LoadRequest, "first" | "paths">;
}

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

export async function sendLoad(request: LoadRequest, { connections, seconds }: LoadOptions): Promise<Load> {
  if (request.first !== undefined) await sendFirst(request.first);
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-bench-"));
  try {
    const script = join(folder, "request.lua");
    await writeFile(script, wrkScript(request));
    // By default wrk counts two seconds as an error.
    const args = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "20s", "-s", script, request.url];
    const { stdout } = await runOrThrow("wrk", args);
    const [, ...figures] = /RESULT (\S+) (\S+) (\S+) (\S+) (\S+)/.exec(stdout) ?? [];
    const [perSecond = Number.NaN, p50 = 0, p99 = 0, errors = 0, requests = 0] = figures.map(Number);
    if (Number.isNaN(perSecond)) throw new Error(`wrk printed no result:\n${stdout}`);
    if (errors > 0) throw new Error(`${errors} responses of ${request.url} were errors`);
    return { requests, perSecond, p50: p50 / 1000, p99: p99 / 1000 };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function sendFirst({ url, ...request }: LoadRequest): Promise<void> {
  const reply = await fetch(url, request);
  if (!reply.ok) throw new Error(`${url} answered with ${reply.status}`);
}

function wrkScript({ method = "GET", headers = {}, body, paths = [] }: LoadRequest): string {
  const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
  // As a proxy in front of the servers would.
  const sent = Object.entries({ "x-forwarded-for": "203.0.113.7", ...headers });
  return [
    `wrk.method = ${quoted(method)}`,
    ...sent.map(([name, value]) => `wrk.headers[${quoted(name)}] = ${quoted(value)}`),
    ...(body === undefined ? [] : [`wrk.body = ${quoted(body)}`]),
    ...(body?.includes("#") ? distinct(quoted(body)) : []),
    ...(paths.length === 0 ? [] : rotation(paths.map(quoted), bodiesOf(body).map(quoted))),
    "done = function(summary, latency, requests)",
    "  local e = summary.errors",
    "  local bad = e.status + e.connect + e.read + e.write + e.timeout",
    "  local rate = summary.requests / (summary.duration / 1e6)",
    "  local p50, p99 = latency:percentile(50), latency:percentile(99)",
    '  print(string.format("RESULT %.1f %d %d %d %d", rate, p50, p99, bad, summary.requests))',
    "end\n",
  ].join("\n");
}

/** Lua that sends each path with each body in turn. */
function rotation(paths: readonly string[], bodies: readonly string[]): readonly string[] {
  return [
    `local paths = {${paths.join(", ")}}`,
    `local bodies = {${bodies.join(", ")}}`,
    // Formatted once: that takes wrk as long as bare fastify takes to answer.
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
  ];
}

/** Lua that sends another body each time. */
function distinct(body: string): readonly string[] {
  return [
    "local n = 0",
    "request = function()",
    "  n = n + 1",
    `  return wrk.format(nil, nil, nil, (string.gsub(${body}, "#", "${Date.now()}-" .. n)))`,
    "end",
  ];
}

function bodiesOf(body: string | undefined): readonly string[] {
  if (body === undefined) return [];
  return body.includes("@") ? [body.replaceAll("@", "1"), body.replaceAll("@", "2")] : [body];
}
