// The scheme and host that a request used, for absolute links; behind proxies only as trusted ones say. Refuses a Host that
// is no host, so that nothing else can get into a link.

import type { FastifyRequest } from "fastify";
import { Problem } from "../../core/errors/problem.ts";

const hostPattern = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** `http(s)://host[:port]`, without a trailing slash. */
export function requestOrigin(request: FastifyRequest, fallback: string): string {
  const host = request.host;
  if (!host) return fallback;
  if (!hostPattern.test(host))
    throw new Problem("invalid_request", "The Host header is not a host name with an optional port");
  return `${request.protocol}://${host}`;
}
