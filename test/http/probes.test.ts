// What Kubernetes asks on the admin port: alive, started, ready. Only readiness follows the store
// and the configuration.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { startDataPlane } from "../../dataplane/app.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { send } from "../support/http/http-client.ts";
import { project, withRootKey } from "../support/http/projects.ts";
import { describeServed, serveFrom } from "../support/http/served.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const shop = project("shop", withRootKey("doc"));
const probes = ["/livez", "/readyz", "/startupz"] as const;

async function ask(adminUrl: string): Promise<readonly string[]> {
  const replies = await Promise.all(probes.map((path) => send(adminUrl, path)));
  return replies.map(({ status, text }) => `${status} ${text.split("\n", 1)}`);
}

describeServed("probes", (serve) => {
  it("all say ok when the configuration is loaded and the store is there", async () => {
    const served = await serve(shop);
    expect(await ask(served.adminUrl)).toEqual(["200 ok", "200 ok", "200 ok"]);
  });

  it("answer HEAD, and need no credentials", async () => {
    const served = await serve(shop);
    for (const path of probes) {
      const reply = await send(served.adminUrl, path, { method: "HEAD", as: "apikey wrong" });
      expect([path, reply.status]).toEqual([path, 200]);
    }
  });

  it("are never on the public port, under no project and no host, nor are metrics and usage", async () => {
    const served = await serve(shop);
    for (const path of [...probes, "/metrics", "/usage", "/healthz"]) {
      for (const at of [path, `${served.base}${path}`]) {
        const reply = await send(served.origin, at);
        expect([at, reply.status, reply.code]).toEqual([at, 404, "unknown_path"]);
      }
    }
  });

  it("are not on the admin port what the public one serves", async () => {
    const served = await serve(shop);
    expect((await send(served.adminUrl, `${served.base}/json/doc`)).status).toBe(404);
  });
});

describe("before the configuration is loaded", () => {
  it("a data plane is alive, not started and not ready, and answers requests with 503", async () => {
    const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
    const live = createMemoryDirectory(systemClock);
    const options = { host: "127.0.0.1", port: 0, adminPort: 0, writeLog: () => undefined };
    const plane = await startDataPlane({ ...options, store, directory: live.directory });
    const loading = "503 the configuration is not loaded yet";
    expect(await ask(plane.adminUrl)).toEqual(["200 ok", loading, loading]);
    const early = await send(plane.url, "/default/shop/json/doc");
    expect([early.status, early.code, early.headers["retry-after"]]).toEqual([503, "project_unavailable", "1"]);
    live.replace([shop]);
    expect(await ask(plane.adminUrl)).toEqual(["200 ok", "200 ok", "200 ok"]);
    expect((await send(plane.url, "/default/shop/json/doc")).status).toBe(200);
    await plane.close();
    await store.close();
  });
});

describe("when Redis", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it("goes away a data plane is alive and started and not ready, and ready again once it is back", async () => {
    const store = await openRedisStore({ url: redis.url });
    const served = await serveFrom(store, [shop]);
    expect(await ask(served.adminUrl)).toEqual(["200 ok", "200 ok", "200 ok"]);
    await redis.kill();
    await eventually(async () => {
      expect(await ask(served.adminUrl)).toEqual(["200 ok", "503 the store can't be reached", "200 ok"]);
    });
    await redis.restart();
    await eventually(async () => expect(await ask(served.adminUrl)).toEqual(["200 ok", "200 ok", "200 ok"]));
    await served.plane.close();
    await store.close();
  });

  it("says what it is, readiness and a metric do, also when another server takes its place", async () => {
    const store = await openRedisStore({ url: redis.url });
    const served = await serveFrom(store, [shop]);
    const expectNamed = async () => {
      const { engine } = store.health();
      const named = `store: ${engine?.name} ${engine?.version}, ${engine?.json} ${engine?.jsonVersion}`;
      expect((await send(served.adminUrl, "/readyz")).text).toBe(
        `ok\n${named}${engine?.tested ? "" : " (not tested)"}\n`,
      );
      expect((await send(served.adminUrl, "/metrics")).text).toContain(
        `\njsonplane_store_info{server="${engine?.name}",version="${engine?.version}",json="${engine?.json}",` +
          `json_version="${engine?.jsonVersion}",tested="${engine?.tested}"} 1\n`,
      );
    };
    expect(store.health().engine?.jsonVersion).toMatch(/^[1-9]\d*\.\d+\.\d+$/);
    await expectNamed();
    await redis.kill();
    const other = await startRedis({ port: redis.port, json: false });
    await eventually(() => expect(store.health().engine).toMatchObject({ jsonVersion: "0.0.0", tested: false }));
    await eventually(expectNamed);
    await served.plane.close();
    await store.close();
    await other.stop();
  });
});
