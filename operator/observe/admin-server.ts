// The operator's only port: probes and metrics, without credentials or for one token, for the cluster's own network.

import Fastify, { type FastifyInstance } from "fastify";
import { type FollowedToken, openRoute, requireToken } from "../../core/http/second-port-access.ts";
import type { OperatorMetrics } from "./metrics.ts";

export interface AdminDeps {
  readonly metrics: Pick<OperatorMetrics, "registry">;
  /** True once everything watched is known. A standby is ready too: it takes over at once. */
  readonly ready: () => boolean;
  /** False when only a restart helps. An API server that is away is no such case. */
  readonly healthy?: () => boolean;
  /** Absent = metrics need no token. */
  readonly token?: FollowedToken | undefined;
}

export function createAdminServer({ metrics, ready, healthy = () => true, token }: AdminDeps): FastifyInstance {
  const app = Fastify({ logger: false });
  requireToken(app, token);
  app.get("/healthz", openRoute, (_request, reply) =>
    healthy() ? reply.send("ok\n") : reply.status(503).send("this process must be restarted\n"),
  );
  app.get("/readyz", openRoute, (_request, reply) =>
    ready() ? reply.send("ok\n") : reply.status(503).send("the cluster's objects are not loaded yet\n"),
  );
  app.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  return app;
}
