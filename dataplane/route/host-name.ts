// The host that a request names: as `spec.hosts` is compared with it. Refuses what is no host, or several, so that nothing
// else can choose a project or get into a link.

import type { FastifyRequest } from "fastify";
import { Problem } from "../../core/errors/problem.ts";

const hostPattern = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** The Host header, or what a trusted proxy says in its place; empty only before HTTP/1.1 or when it was sent empty. */
export function demandHost({ host, raw }: FastifyRequest): string {
  if (hostPattern.test(host)) return host;
  if (host === "" && (raw.headers.host !== undefined || raw.httpVersion === "1.0")) return host;
  throw new Problem("invalid_request", "The request needs one Host header: a host name with an optional port");
}

/** Lower case, without the port and the dot that may end a full name; empty when there is none. */
export function hostName(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return name.replace(/\.$/, "").toLowerCase();
}
