// The host that a request names: as `spec.hosts` is compared with it. Refuses what is no host, or several, so that nothing
// else can choose a project or get into a link.

import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { Problem } from "../../core/errors/problem.ts";

const hostPattern = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * The target's authority, the Host header, or what a trusted proxy says in their place; empty only before HTTP/1.1 or when it was sent
 * empty.
 */
export function requireHost({ host, raw }: FastifyRequest): string {
  if (hostPattern.test(host)) return host;
  if (host === "" && (raw.headers.host !== undefined || raw.httpVersion === "1.0")) return host;
  throw new Problem("invalid_request", "The request needs one Host header: a host name with an optional port");
}

/**
 * RFC 9112 §3.2.2: where the request target has an authority, that is the host, and not what the Host header beside it says. Only in the
 * place of one: §3.2 wants a request without a Host header, or with several, refused all the same.
 */
export function preferTargetAuthority({ url = "", headers, httpVersion }: IncomingMessage): void {
  if (url.startsWith("/")) return;
  const authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  const { host } = headers;
  const isOne = host === undefined ? httpVersion === "1.0" : host === "" || hostPattern.test(host);
  if (authority !== undefined && isOne) headers.host = authority;
}

/** Lower case, without the port and the dot that may end a full name; empty when there is none. */
export function hostName(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return name.replace(/\.$/, "").toLowerCase();
}
