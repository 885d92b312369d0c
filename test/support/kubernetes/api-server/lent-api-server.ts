// API servers that the files of a run use one after the other: a start costs two seconds of a
// processor. Each file finds what a new server has stored; one of another kind is started where
// none is free.

import { askParts, partsVariable } from "../../process/ask-parts.ts";
import { type ApiServerOptions, type OwnApiServer, servesCrds, startApiServer } from "./api-server.ts";
import { accessTo, type ServerLocation } from "./api-server-access.ts";

export interface Lent {
  readonly number: number;
  readonly location: ServerLocation;
}

interface Server {
  /** Options of its start, as JSON. */
  readonly kind: string;
  readonly server: OwnApiServer;
  readonly reset: () => Promise<void>;
  isFree: boolean;
}

/** Whoever lends. */
export function createLender() {
  const all: Server[] = [];
  const start = async (kind: string): Promise<Server> => {
    const server = await startApiServer(JSON.parse(kind) as ApiServerOptions);
    const started = { kind, server, reset: await server.rememberState(), isFree: false };
    all.push(started);
    return started;
  };
  return {
    async take(kind: string): Promise<Lent> {
      const found = all.find((each) => each.isFree && each.kind === kind) ?? (await start(kind));
      found.isFree = false;
      return { number: all.indexOf(found), location: found.server.location };
    },
    async giveBack(number: number): Promise<void> {
      const found = all[number];
      if (found === undefined) throw new Error(`There is no server ${number}`);
      await found.reset();
      found.isFree = true;
    },
    async stop(): Promise<void> {
      await Promise.all(all.map(({ server }) => server.stop()));
    },
  };
}

/**
 * One that nobody else uses meanwhile. Outside of a run that lends, or with `own`, it is started,
 * and only such a server may be killed, paused, restarted or lose its history. A lent one ends
 * namespaces, whether that was asked for or not.
 */
export async function takeApiServer({ own = false, ...options }: TakenOptions = {}): Promise<OwnApiServer> {
  const isLent = process.env[partsVariable] !== undefined && !own && options.audit !== true;
  if (!isLent) return await startApiServer(options);
  // The fewer kinds there are, the more files find a server that is free.
  const kind = JSON.stringify({ controllers: ["namespace"], ...options });
  const { number, location } = await askParts<Lent>(`/take?${encodeURIComponent(kind)}`);
  const access = accessTo(location);
  if (options.crds !== false) await servesCrds(access);
  const notOwn = (): never => {
    throw new Error("Others use this API server afterwards: ask for one with `own`");
  };
  return {
    ...access,
    location,
    get pid() {
      return notOwn();
    },
    rememberState: notOwn,
    compactEtcd: notOwn,
    kill9ApiServer: notOwn,
    restartApiServer: notOwn,
    pauseApiServer: notOwn,
    resumeApiServer: notOwn,
    async stop() {
      access.agent.destroy();
      await askParts(`/give-back?${number}`);
    },
  };
}

export interface TakenOptions extends ApiServerOptions {
  /** For tests that kill or restart it, or change its definitions. */
  readonly own?: boolean;
}
