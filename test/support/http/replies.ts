// What tests expect of problems, whatever the route: the RFC 9457 members, and nothing about the
// inside.

import { expect } from "vitest";
import { errorCatalogue } from "../../../core/errors/catalogue.ts";
import type { Reply } from "./http-client.ts";

/** Names of our parts, source positions and foreign error codes: a client must never read one. */
const inside =
  /fastify|ioredis|redis|sqlite|node:|node_modules|llhttp|HPE_|FST_|ERR_|ECONN|EPIPE|argon2|\bajv\b|\.[jt]s\b|\n\s+at |\blua\b|TypeError/i;

/** The members of a problem that RFC 9457 and docs/reference/errors.md name, and no others. */
export function expectProblem(reply: Pick<Reply, "status" | "headers" | "text">, code: string): void {
  const entry = errorCatalogue[code as keyof typeof errorCatalogue];
  const body = JSON.parse(reply.text) as Record<string, unknown>;
  expect(reply.headers["content-type"]).toBe("application/problem+json");
  expect(reply.headers["cache-control"]).toBe("no-store");
  expect(body).toEqual({
    type: `urn:jsonplane:error:${code}`,
    title: entry.title,
    status: reply.status,
    detail: expect.stringMatching(/./),
    instance: expect.any(String),
    code,
    requestId: reply.headers["x-request-id"],
    ...("errors" in body && { errors: expect.any(Array) }),
  });
  expect(reply.status).toBe(entry.status);
  expect(reply.text).not.toMatch(inside);
  expect(reply.text.length).toBeLessThan(32 * 1024);
}
