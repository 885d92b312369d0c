// What the admin ports of both programs have in common: who is let in, and errors in the shape of
// RFC 9457. Refuses with 401, 404, 405, and 500 for defects.

import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { Problem } from "../errors/problem.ts";
import { type FollowedToken, requireToken } from "./admin-port-access.ts";
import { problemResponse } from "./problem-response.ts";

/** Without routes; undefined = no token is asked for. */
export function createAdminApp(token: FollowedToken | undefined): FastifyInstance {
  const app = Fastify({
    logger: false,
    genReqId: () => randomUUID(),
    // A path that can't be decoded comes before all hooks.
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply),
  });
  const urls = new Set<string>();
  app.addHook("onRoute", ({ url }) => void urls.add(url));
  app.setErrorHandler(sendProblem);
  app.setNotFoundHandler((request) => {
    throw notFound(request, urls);
  });
  requireToken(app, token);
  return app;
}

function notFound({ method, url }: FastifyRequest, urls: ReadonlySet<string>): Problem {
  if (urls.has(pathOf(url))) {
    return new Problem("method_not_allowed", `${method} is not allowed at this path; allowed are GET, HEAD`, {
      headers: { Allow: "GET, HEAD" },
    });
  }
  return new Problem("unknown_path", `This port has ${[...urls].join(", ")}`);
}

function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, text, headers } = problemResponse(error, { path: pathOf(request.url), requestId: request.id });
  // Fastify would add a charset, which JSON has not, to the type of a string.
  return reply
    .status(status)
    .headers({ ...headers, "X-Request-Id": request.id })
    .type("application/problem+json")
    .send(Buffer.from(text));
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
