// Sends one request to a replica over a kept connection, writes down how it was answered, and says
// what is known of its effect.

import { Agent, type IncomingHttpHeaders, request } from "node:http";
import type { History, Outcome } from "./history.ts";

export interface Asked {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly as?: string;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

export interface Answer {
  /** 0 without an answer. */
  readonly status: number;
  readonly code: string | undefined;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  /** Said to be the answer to a repetition. */
  readonly replayed: boolean;
  readonly from: number;
  readonly to: number;
  readonly outcome: Outcome;
}

export interface Target {
  readonly name: string;
  readonly origin: string;
}

export interface Asker {
  ask(target: Target, asked: Asked): Promise<Answer>;
  close(): void;
}

/** Beyond the time limits of the service: four steps of two seconds, and more. */
const hangMilliseconds = 15_000;

/** `slack`: by how much that limit is multiplied. */
export function createAsker(history: History, slack: number): Asker {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  return {
    async ask(target, asked) {
      const from = history.now();
      const { method = "GET" } = asked;
      const reply = await exchange(agent, target, { ...asked, hangsAfterMs: hangMilliseconds * slack });
      const to = history.now();
      if (reply.error === "hung")
        history.unexpected(`${method} ${asked.path} at ${target.name}: no answer in ${to - from} ms`);
      const code = codeOf(reply);
      history.add({
        kind: "answer",
        replica: target.name,
        writes: method !== "GET",
        status: reply.status,
        code,
        from,
        to,
      });
      if (reply.status === 500) history.unexpected(`${method} ${asked.path} at ${target.name}: 500 ${reply.text}`);
      const { status, text, headers } = reply;
      const replayed = headers["idempotent-replayed"] === "true";
      return { status, code, text, headers, replayed, from, to, outcome: outcomeOf(reply, code) };
    },
    close: () => agent.destroy(),
  };
}

interface RawReply {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  readonly problem: boolean;
  readonly error: string | undefined;
}

interface Timed extends Asked {
  readonly hangsAfterMs: number;
}

function exchange(agent: Agent, { origin }: Target, asked: Timed): Promise<RawReply> {
  const { method = "GET", path, as, body, idempotencyKey } = asked;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const { hostname, port } = new URL(origin);
  const headers = {
    ...(as !== undefined && { authorization: as }),
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    ...(payload !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(payload) }),
  };
  return new Promise((resolve) => {
    let hung = false;
    const failed = (error: NodeJS.ErrnoException): void =>
      resolve({
        status: 0,
        text: "",
        headers: {},
        problem: false,
        error: hung ? "hung" : (error.code ?? error.message),
      });
    const outgoing = request({ hostname, port, path, method, headers, agent }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", failed);
      incoming.on("end", () => {
        const { headers } = incoming;
        const problem = headers["content-type"]?.startsWith("application/problem+json") ?? false;
        const text = Buffer.concat(chunks).toString();
        resolve({ status: incoming.statusCode ?? 0, text, headers, problem, error: undefined });
      });
    });
    outgoing.setTimeout(asked.hangsAfterMs, () => {
      hung = true;
      outgoing.destroy(new Error("hung"));
    });
    outgoing.on("error", failed);
    outgoing.end(payload);
  });
}

function codeOf({ problem, text }: RawReply): string | undefined {
  return problem ? (JSON.parse(text) as { code?: string }).code : undefined;
}

function outcomeOf({ status, error }: RawReply, code: string | undefined): Outcome {
  if (error !== undefined) return error === "ECONNREFUSED" ? "refused" : "unknown";
  if (status >= 200 && status < 300) return "done";
  return code === "outcome_unknown" || status === 500 ? "unknown" : "refused";
}
