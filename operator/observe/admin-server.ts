// The operator's only port: probes and metrics, without credentials or for one token, for the
// cluster's own network.

import type { FastifyInstance } from "fastify";
import { createAdminApp } from "../../core/http/admin-app.ts";
import { type FollowedToken, openRoute } from "../../core/http/admin-port-access.ts";
import type { OperatorMetrics } from "./metrics.ts";

export interface AdminDeps {
  readonly metrics: Pick<OperatorMetrics, "registry">;
  /**
   * What keeps this process from leading; undefined = nothing does. A standby is ready too: it
   * takes over immediately.
   */
  readonly notReady: () => string | undefined;
  /** False when only a restart helps. An API server that is away is no such case. */
  readonly healthy?: () => boolean;
  /** Absent = metrics need no token. */
  readonly token?: FollowedToken | undefined;
}

export function createAdminServer({ metrics, notReady, healthy = () => true, token }: AdminDeps): FastifyInstance {
  const app = createAdminApp(token);
  app.get("/healthz", openRoute, (_request, reply) =>
    healthy() ? reply.send("ok\n") : reply.status(503).send("this process must be restarted\n"),
  );
  app.get("/readyz", openRoute, (_request, reply) => {
    const why = notReady();
    return why === undefined ? reply.send("ok\n") : reply.status(503).send(`${why}\n`);
  });
  app.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  return app;
}
