// Vitest's global set-up of the projects whose files share real parts: an API server, and a whole
// fleet, each started when the first file asks for it and stopped after the last one; and API
// servers that they use one after the other. Files ask over a socket (shared-fleet.ts,
// lent-api-server.ts), because each runs in a process of its own.

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "../kubernetes/api-server/api-server.ts";
import type { ServerLocation } from "../kubernetes/api-server/api-server-access.ts";
import { createLender } from "../kubernetes/api-server/lent-api-server.ts";
import { partsVariable } from "../process/ask-parts.ts";
import { startFleet } from "./fleet.ts";
import type { ProgramProcess } from "./program-process.ts";

/** What the processes of test files need to know of the shared fleet. */
export interface FleetLocation {
  readonly api: ServerLocation;
  readonly redis: { readonly url: string; readonly host: string; readonly port: number };
  readonly operators: readonly ProgramLocation[];
  readonly replicas: readonly (ProgramLocation & { readonly origin: string })[];
}

export interface ProgramLocation {
  readonly adminUrl: string;
  /** File of its standard error. */
  readonly logFile: string;
}

interface Started {
  readonly location: ServerLocation | FleetLocation;
  stop(): Promise<void>;
}

const starters: Readonly<Record<string, () => Promise<Started>>> = {
  async "/api-server"() {
    // The cluster's own roles take rules up by a controller. None ends namespaces: a test of one
    // that is going has its time.
    const api = await startApiServer({ audit: true, controllers: ["clusterrole-aggregation-controller"] });
    return { location: api.location, stop: () => api.stop() };
  },
  async "/fleet"() {
    const fleet = await startFleet({
      replicas: 2,
      api: { controllers: ["namespace"], own: true },
      operatorArgs: ["--allowed-hosts", "*={namespace}.apps.test"],
      logFiles: true,
    });
    const { url, host, port } = fleet.redis;
    const location: FleetLocation = {
      api: fleet.api.location,
      redis: { url, host, port },
      operators: fleet.operators.map(locationOf),
      replicas: fleet.replicas.map((replica) => ({ ...locationOf(replica), origin: replica.origin })),
    };
    return { location, stop: () => fleet.stop() };
  },
};

function locationOf({ adminUrl, logFile = "" }: ProgramProcess): ProgramLocation {
  return { adminUrl, logFile };
}

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // What another project of this run has opened serves this one too.
  if (process.env[partsVariable] !== undefined) return undefined;
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-shared-"));
  const started = new Map<string, Promise<Started>>();
  const lender = createLender();
  const answer = async (path: string, query: string): Promise<unknown> => {
    if (path === "/take") return await lender.take(query);
    if (path === "/give-back") return await lender.giveBack(Number(query));
    const starting = started.get(path) ?? starters[path]?.() ?? Promise.reject(new Error(`No part is called ${path}`));
    started.set(path, starting);
    return (await starting).location;
  };
  const server = createServer(({ url = "" }, response) => {
    const [path = "", query = ""] = url.split("?");
    answer(path, decodeURIComponent(query)).then(
      (found) => response.end(JSON.stringify(found ?? null)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const socket = join(dir, "socket");
  server.listen(socket);
  await once(server, "listening");
  process.env[partsVariable] = socket;
  return async () => {
    server.close();
    const all = await Promise.allSettled(started.values());
    await Promise.all([lender.stop(), ...all.map(async (each) => each.status === "fulfilled" && each.value.stop())]);
    await rm(dir, { recursive: true, force: true });
  };
}
