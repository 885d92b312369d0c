// Vitest's global set-up of the projects whose files share real parts: an API server, and a whole
// fleet, each started when the first file asks for it and stopped after the last one. Files ask
// over a socket (shared-fleet.ts), because each runs in a process of its own.

import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startApiServer } from "../kubernetes/api-server/api-server.ts";
import type { ServerLocation } from "../kubernetes/api-server/api-server-access.ts";
import { startFleet } from "./fleet.ts";
import type { ProgramProcess } from "./program-process.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the socket. */
    sharedParts: string;
  }
}

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

/** By the path that is asked for. */
export interface SharedLocations {
  readonly "/api-server": ServerLocation;
  readonly "/fleet": FleetLocation;
}

interface Started {
  readonly location: SharedLocations[keyof SharedLocations];
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
      api: { controllers: ["namespace"] },
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

export async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  // What another project of this run has opened serves this one too.
  if (vitest.getProvidedContext().sharedParts !== undefined) return undefined;
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-shared-"));
  const started = new Map<string, Promise<Started>>();
  const listener: RequestListener = ({ url = "" }, response) => {
    const starting = started.get(url) ?? starters[url]?.() ?? Promise.reject(new Error(`No part is called ${url}`));
    started.set(url, starting);
    starting.then(
      ({ location }) => response.end(JSON.stringify(location)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  };
  const server = createServer(listener);
  const socket = join(dir, "socket");
  server.listen(socket);
  await once(server, "listening");
  vitest.provide("sharedParts", socket);
  return async () => {
    server.close();
    const all = await Promise.allSettled(started.values());
    await Promise.all(all.map(async (each) => each.status === "fulfilled" && each.value.stop()));
    await rm(dir, { recursive: true, force: true });
  };
}
