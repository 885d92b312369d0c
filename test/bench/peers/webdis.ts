// Webdis, a small HTTP server in C before Redis: no keys, no rules, no schemas. A limit of what HTTP over this Redis can be, not a
// choice that anybody has between it and jsonplane.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findWebdis } from "../../../tools/parts/peers.ts";
import { freePort } from "../../support/process/free-port.ts";
import { startPart } from "../../support/process/part-process.ts";
import { bookText } from "../subjects.ts";
import { answers, type Peer } from "./peer.ts";

/** `redis` = its URL; the documents `bare:0` … are there. */
export async function startWebdis(redis: string): Promise<Peer> {
  const webdis = await findWebdis(process.env);
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-webdis-"));
  const port = await freePort();
  const { hostname, port: redisPort } = new URL(redis);
  const config = {
    redis_host: hostname,
    redis_port: Number(redisPort),
    http_host: "127.0.0.1",
    http_port: port,
    threads: 1,
    pool_size: 4,
    daemonize: false,
    websockets: false,
    verbosity: 0,
    logfile: "/dev/null",
  };
  const file = join(folder, "webdis.json");
  await writeFile(file, JSON.stringify(config));
  const base = `http://127.0.0.1:${port}`;
  const part = await startPart({
    name: "webdis",
    program: "env",
    args: [...Object.entries(webdis.env).map(([name, value]) => `${name}=${value}`), webdis.path, file],
    log: join(folder, "log"),
    temporary: folder,
    isUp: () => answers(`${base}/PING`),
  });
  const keys = Array.from({ length: 10 }, (_, index) => `bare:${index}`).join("/");
  return {
    name: "Webdis",
    requests: {
      "get, API key": { url: `${base}/JSON.GET/bare:0.raw` },
      "list of 10": { url: `${base}/JSON.MGET/${keys}/$` },
      "create, three indexes": { url: `${base}/JSON.SET/bare:webdis/$`, method: "PUT", body: bookText(1) },
    },
    async stop() {
      await part.end("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
