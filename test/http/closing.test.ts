// What a data plane owes to clients that stand still, and to requests under way when it is told to
// end; and what it does not.

import { connect } from "node:net";
import { expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { type DataPlane, type DataPlaneOptions, startDataPlane } from "../../dataplane/app.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { project, withAuthenticationDisabled, withRootKey } from "../support/http/projects.ts";
import { openRaw } from "../support/http/raw-http.ts";
import { eventually } from "../support/time/eventually.ts";

const shop = project("shop", withAuthenticationDisabled(), withRootKey("flags"));

type Limits = Pick<DataPlaneOptions, "closeTimeoutMs" | "unreadTimeoutMs">;

async function start(limits: Limits = {}, store?: Store): Promise<DataPlane> {
  const live = createMemoryDirectory(systemClock);
  live.replace([shop]);
  return await startDataPlane({
    directory: live.directory,
    store: store ?? (() => createEmbeddedStore({ directory: ":memory:", clock: systemClock })),
    host: "127.0.0.1",
    port: 0,
    adminPort: 0,
    logLevel: "silent",
    ...limits,
  });
}

const head = "PUT /default/shop/json/flags HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";

it("ends although a client never finishes its request", async () => {
  const plane = await start({ closeTimeoutMs: 50 });
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

it("cuts a connection whose client does not read its answers", async () => {
  const unreadTimeoutMs = 200;
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const text = JSON.stringify("x".repeat(1_000_000));
  await store.initialise({ project: { namespace: "default", name: "shop" }, rootKey: "flags" }, text);
  const plane = await start({ unreadTimeoutMs }, store);
  const { hostname, port } = new URL(plane.url);
  const client = connect(Number(port), hostname);
  client.pause();
  client.write("GET /default/shop/json/flags HTTP/1.1\r\nHost: a\r\n\r\n".repeat(40));
  client.on("error", () => undefined);
  // A client that does not read hears of the end only when it writes. Seldom enough not to count as
  // life.
  const cut = () => {
    client.write(" ");
    expect(client.destroyed).toBe(true);
  };
  await eventually(cut, { everyMs: 4 * unreadTimeoutMs });
  client.destroy();
  await plane.close();
  await store.close();
});
