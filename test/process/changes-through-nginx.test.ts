// Clients follow changes through a real nginx: one that has only `proxy_pass`, and one that holds
// back whatever is sent.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { nginx } from "../../tools/parts/nginx.ts";
import { requirePart } from "../../tools/parts/part.ts";
import { make } from "../support/http/api-calls.ts";
import { closeStreams, type EventStream, follow } from "../support/http/event-stream.ts";
import { send } from "../support/http/http-client.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { freePort, isFree } from "../support/process/free-port.ts";
import { type PartProcess, startPart } from "../support/process/part-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/process/temporary-folder.ts";
import { eventually } from "../support/time/eventually.ts";

const as = apikey("alice");
let folder: TemporaryFolder;
let proxy: PartProcess;
let served: Served;
/** Origins of the two. */
let plain = "";
let buffering = "";

beforeAll(async () => {
  const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  served = await serveFrom(store, [project("shop", withKey("alice"), withResource("books", { changes }))]);
  folder = temporaryFolder("jsonplane-nginx-");
  const [plainPort, bufferingPort] = [await freePort(), await freePort()];
  await writeFile(join(folder.path, "nginx.conf"), configuration(plainPort, bufferingPort));
  proxy = await startPart({
    name: "nginx",
    program: await requirePart(process.env, nginx),
    args: ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"],
    log: join(folder.path, "log"),
    temporary: folder.path,
    isUp: async () => !(await isFree(plainPort)) && !(await isFree(bufferingPort)),
  });
  plain = `http://127.0.0.1:${plainPort}`;
  buffering = `http://127.0.0.1:${bufferingPort}`;
});
afterEach(closeStreams);
afterAll(async () => {
  await proxy?.end("SIGTERM");
  await served?.plane.close();
  await served?.store.close();
  await folder?.remove();
});

function configuration(plainPort: number, bufferingPort: number): string {
  const upstream = `proxy_pass ${served.origin};`;
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${name};`);
  return `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  ${folders.join("\n  ")}
  server { listen 127.0.0.1:${plainPort}; location / { ${upstream} } }
  server {
    listen 127.0.0.1:${bufferingPort};
    location / { ${upstream} proxy_buffering on; proxy_ignore_headers X-Accel-Buffering; }
  }
}
`;
}

const followThrough = (origin: string): Promise<EventStream> =>
  follow({ origin, base: served.base }, "/api/books", { as });

it("an nginx with its defaults passes each event on at once", async () => {
  const stream = await followThrough(plain);
  for (const [at, title] of ["Dune", "Emma"].entries()) {
    const { id } = await make(served, "books", { title }, as);
    expect((await stream.changes(at + 1)).at(-1)).toMatchObject({ event: "put", data: { id, object: { title } } });
  }
});

it("an nginx that holds back even a stream's head passes on what a client waits for as JSON", async () => {
  let isAnswered = false;
  const end = () => {
    isAnswered = true;
  };
  // It fails when the test ends, and its connection with it.
  followThrough(buffering).then(end, () => undefined);
  await eventually(async () => {
    expect((await send(served.adminUrl, "/metrics")).text).toMatch(/^jsonplane_change_streams 1$/m);
  });
  const { headers } = await send(buffering, `${served.base}/api/books`, { as });
  const path = `${served.base}/api/books?_position=${encodeURIComponent(String(headers["changes-position"]))}`;
  const waiting = send(buffering, path, { as, headers: { prefer: "wait=20" } });
  const { id } = await make(served, "books", { title: "Persuasion" }, as);
  expect((await waiting).json()).toMatchObject({ changes: [{ event: "put", data: { id } }] });
  expect(isAnswered).toBe(false);
});
