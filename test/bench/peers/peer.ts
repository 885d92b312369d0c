// What a peer is to the benchmark: a server that runs, and the requests that make it do the same as jsonplane, where it can.

import type { LoadRequest } from "../load.ts";
import type { OperationName } from "../operations.ts";

export interface Peer {
  readonly name: string;
  readonly requests: Readonly<Partial<Record<OperationName, LoadRequest>>>;
  stop(): Promise<void>;
}

/** Whether a server is there that answers with success. */
export function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (reply) => reply.ok,
    () => false,
  );
}

/** A request of the preparation, which must succeed; its JSON. */
export async function ask(url: string, sent: { method?: string; headers?: Record<string, string>; body?: unknown }) {
  const { method = "POST", headers = {}, body } = sent;
  const reply = await fetch(url, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${url} answered ${reply.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
