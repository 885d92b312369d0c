// The scheme and host that a request used, for absolute links; behind proxies only as trusted ones say.

import type { FastifyRequest } from "fastify";

/** `http(s)://host[:port]`, without a trailing slash. The host has passed demandHost. */
export function requestOrigin(request: FastifyRequest, fallback: string): string {
  const { host } = request;
  return host ? `${request.protocol === "https" ? "https" : "http"}://${host}` : fallback;
}
