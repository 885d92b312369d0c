// What most tests over HTTP do before the thing they are about: make an object, read a list, log
// in. Throws when the service refuses, with its whole answer.

import type { Reply, SentRequest } from "./http-client.ts";
import { basic } from "./projects.ts";

/** Whatever sends requests below a project's base. */
export interface Sender {
  send(path: string, sent?: SentRequest): Promise<Reply>;
}

export interface ServedObject {
  readonly id: string;
  readonly _metadata: { readonly created: number; readonly creator: string; readonly creator_type: string };
  readonly [field: string]: unknown;
}

export interface ServedList {
  readonly count: number;
  readonly items: readonly ServedObject[];
  readonly links: { readonly self: string; readonly next?: string; readonly prev?: string };
}

export interface Login {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly session_id: string;
  readonly message: string;
}

/** Creates an object; `as` is an Authorization header, none for an anonymous caller. */
export async function make(sender: Sender, resource: string, body: unknown, as?: string): Promise<ServedObject> {
  const reply = await sender.send(`/api/${resource}`, { method: "POST", body, ...(as !== undefined && { as }) });
  return expectStatus(reply, 201).json<ServedObject>();
}

/** `path` is below /api/, query included. */
export async function list(sender: Sender, path: string, as?: string): Promise<ServedList> {
  const reply = await sender.send(`/api/${path}`, as === undefined ? {} : { as });
  return expectStatus(reply, 200).json<ServedList>();
}

export async function login(sender: Sender, username: string, password?: string): Promise<Login> {
  const reply = await sender.send("/sessions/", { method: "POST", as: basic(username, password) });
  return expectStatus(reply, 201).json<Login>();
}

export function refresh(sender: Sender, refreshToken: string): Promise<Reply> {
  return sender.send("/sessions/refresh/", { method: "POST", as: `Bearer ${refreshToken}` });
}

/** Status and code, for comparing both at once. */
export function outcome(reply: Reply): readonly [number, string | undefined] {
  return [reply.status, reply.code];
}

function expectStatus(reply: Reply, status: number): Reply {
  if (reply.status !== status) throw new Error(`Expected ${status}, got ${reply.status}: ${reply.text}`);
  return reply;
}
