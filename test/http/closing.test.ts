// What a data plane that is told to end owes to requests under way, and what it does not.

import { expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { type DataPlane, startDataPlane } from "../../dataplane/app.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { project, withAuthenticationDisabled, withRootKey } from "../support/projects.ts";
import { openRaw } from "../support/raw-http.ts";

const shop = project("shop", withAuthenticationDisabled(), withRootKey("flags"));

async function start(closeTimeoutMs?: number): Promise<DataPlane> {
  const live = createMemoryDirectory(systemClock);
  live.replace([shop]);
  return await startDataPlane({
    directory: live.directory,
    store: () => createEmbeddedStore({ directory: ":memory:", clock: systemClock }),
    host: "127.0.0.1",
    port: 0,
    adminPort: 0,
    logLevel: "silent",
    ...(closeTimeoutMs !== undefined && { closeTimeoutMs }),
  });
}

const head = "PUT /default/shop/json/flags HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";

it("ends although a client never finishes its request", async () => {
  const plane = await start(50);
  for (const origin of [plane.url, plane.adminUrl]) {
    const stuck = openRaw(origin);
    stuck.write(head);
    if (origin === plane.url) await stuck.arrived("100 Continue");
    stuck.write("{");
  }
  await plane.close();
});

it("answers the request that is under way first", async () => {
  const plane = await start();
  const client = openRaw(plane.url);
  client.write(head);
  await client.arrived("100 Continue");
  const closing = plane.close();
  client.write("{}");
  expect(await client.closed()).toContain("HTTP/1.1 200");
  await closing;
});
