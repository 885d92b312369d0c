// The admin port: probes, metrics and usage. It asks for no credentials, or for one token, so it is
// for the cluster's own network.

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import { createAdminApp } from "../../core/http/admin-app.ts";
import { type FollowedToken, openRoute } from "../../core/http/admin-port-access.ts";
import type { ConfigFit } from "../config/config-fit.ts";
import type { Directory } from "../config/directory.ts";
import type { Quotas, UsageReport } from "../quotas/quotas.ts";
import type { HealthCheck, StoreEngine } from "../store/port.ts";
import type { Metrics } from "./metrics.ts";
import type { Usage } from "./usage.ts";
import { type PageProject, usagePage } from "./usage-page.ts";

export interface AdminDeps {
  readonly directory: Directory;
  readonly store: HealthCheck;
  readonly metrics: Metrics;
  readonly usage: Usage;
  readonly quotas: Pick<Quotas, "reports">;
  /** Absent = everybody who reaches the port may ask for metrics and usage. */
  readonly adminToken?: FollowedToken | undefined;
  /**
   * Whether the port answers this Host header; absent = any, because probes send a pod's address.
   */
  readonly isOwnHost?: ((request: FastifyRequest) => boolean) | undefined;
  /** True from the moment that the program stops taking new work. */
  readonly stopping: () => boolean;
}

/** Projects that one `/usage` response shows at most. */
const pageLimit = 100;

const whyUnloaded: Readonly<Record<ConfigFit, string>> = {
  fits: "the configuration is not loaded yet",
  another_ring:
    "the configuration was sealed with another key ring than this replica has: bring the Secret of the fleet's key ring back",
  newer_format: "the configuration was written by a newer version than this replica: update it to that version",
};

export function createAdminServer(deps: AdminDeps): FastifyInstance {
  const { directory, metrics, usage } = deps;
  const app = createAdminApp(deps.adminToken);
  const { isOwnHost } = deps;
  if (isOwnHost !== undefined) {
    app.addHook("onRequest", async (request) => {
      if (!isOwnHost(request)) throw foreignHost();
    });
  }

  const unready = (): string | undefined => {
    if (deps.stopping()) return "stopping";
    if (!directory.synced()) return unloaded();
    return deps.store.health().reachable ? undefined : "the store can't be reached";
  };

  const unloaded = (): string => whyUnloaded[directory.fit()];

  app.get("/livez", openRoute, (_request, reply) => reply.send("ok\n"));
  app.get("/startupz", openRoute, (_request, reply) => {
    const started = directory.synced();
    return reply.status(started ? 200 : 503).send(started ? "ok\n" : `${unloaded()}\n`);
  });
  app.get("/readyz", openRoute, (_request, reply) => {
    const reason = unready();
    if (reason !== undefined) return reply.status(503).send(`${reason}\n`);
    const { engine } = deps.store.health();
    return reply.send(engine === undefined ? "ok\n" : `ok\n${described(engine)}\n`);
  });
  app.get("/metrics", async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );

  app.get("/usage", (request, reply) => {
    const quotas = quotasByName(deps.quotas.reports());
    const names = [...new Set([...usage.projects(), ...quotas.keys()])].sort();
    const shown = names
      .slice(0, pageLimit)
      .map((name) => ({ name, usage: usage.project(name), quotas: quotas.get(name) ?? {} }));
    reply.header("Vary", "Accept");
    if (wantsPage(request.headers)) {
      const further = names.length - shown.length;
      return reply.type("text/html; charset=utf-8").send(usagePage({ projects: shown, further }));
    }
    return reply.send({
      count: names.length,
      projects: Object.fromEntries(shown.map((each) => [each.name, withQuotas(each)])),
    });
  });
  app.get<{ Params: { namespace: string; project: string } }>("/usage/:namespace/:project", (request, reply) => {
    const { namespace, project } = request.params;
    const name = `${namespace}/${project}`;
    if (!directory.projects().some((ref) => ref.namespace === namespace && ref.name === project)) {
      throw new Problem(
        "unknown_project",
        "There is no project of this namespace and name; /usage lists those that there are",
      );
    }
    const quotas = quotasByName(deps.quotas.reports()).get(name) ?? {};
    const shown = { name, usage: usage.project(name), quotas };
    reply.header("Vary", "Accept");
    if (!wantsPage(request.headers)) return reply.send(withQuotas(shown));
    return reply.type("text/html; charset=utf-8").send(usagePage({ projects: [shown], further: 0 }));
  });
  return app;
}

function described({ name, version, json, jsonVersion, tested }: StoreEngine): string {
  return `store: ${name} ${version}, ${json} ${jsonVersion}${tested ? "" : " (not tested)"}`;
}

function foreignHost(): Problem {
  return new Problem("insufficient_access", "This port answers at its own addresses only, such as localhost");
}

function quotasByName(reports: readonly UsageReport[]): ReadonlyMap<string, UsageReport["quotas"]> {
  return new Map(reports.map(({ project, quotas }) => [keyOfProject(project), quotas]));
}

/** A project without a quota has no such member. */
function withQuotas({ usage, quotas }: PageProject) {
  return Object.keys(quotas).length === 0 ? usage : { ...usage, quotas };
}

/** Browsers prefer HTML. A client without a preference gets JSON. */
function wantsPage(headers: IncomingHttpHeaders): boolean {
  return new Negotiator({ headers }).mediaType(["application/json", "text/html"]) === "text/html";
}

export interface AdminPort {
  readonly url: string;
  /** From now on this answers. */
  takeOver(app: FastifyInstance): Promise<void>;
  close(): Promise<void>;
}

interface AdminAddress {
  readonly host: string;
  readonly port: number;
}

/** Rejects when the port is taken. */
export async function openAdminPort({ host, port }: AdminAddress): Promise<AdminPort> {
  let answer = starting;
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    async takeOver(app) {
      await app.ready();
      answer = (request, response) => app.routing(request, response);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function starting(request: IncomingMessage, response: ServerResponse): void {
  const lives = request.url?.split("?")[0] === "/livez";
  response.writeHead(lives ? 200 : 503, { "content-type": "text/plain; charset=utf-8" });
  response.end(lives ? "ok\n" : "the program is starting\n");
}
