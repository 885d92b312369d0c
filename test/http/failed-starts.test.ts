// What is left of a data plane that could not start, and of an answer that could not be sent.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createLogger } from "../../core/log/logger.ts";
import { memoryLimits } from "../../dataplane/admission/memory-budgets.ts";
import { startDataPlane } from "../../dataplane/app.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createHttpServer } from "../../dataplane/http/server.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { send } from "../support/http/http-client.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function listening(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

it("a data plane whose admin port is taken lets go of the first one, and of the store that it opened", async () => {
  const { server: other, port: adminPort } = await listening();
  closing.push(async () => other.close());
  const { server: probe, port } = await listening();
  await new Promise((resolve) => probe.close(resolve));
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  let isClosed = false;
  const opened = async () => ({
    ...store,
    async close() {
      await store.close();
      isClosed = true;
    },
  });
  const { directory } = createMemoryDirectory(systemClock);
  const options = { directory, store: opened, host: "127.0.0.1", port, adminPort, writeLog: () => undefined };
  await expect(startDataPlane(options)).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(isClosed).toBe(true);
  await expect(send(`http://127.0.0.1:${port}`, "/")).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

it.each([
  ["the sessions that ended can't be learnt", {}, { followEndedSessions: () => Promise.reject(new Error("away")) }],
  ["its options can't be used", { trustedProxies: ["nonsense"] }, {}],
])("a data plane that can't start lets go of the store that it opened: %s", async (_, wrong, broken) => {
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  closing.push(() => store.close());
  const closed: string[] = [];
  const opened = async () => ({
    ...store,
    async followEndedSessions(...given: Parameters<typeof store.followEndedSessions>) {
      const following = await store.followEndedSessions(...given);
      return { stop: async () => void closed.push("ended sessions", String(await following.stop())) };
    },
    ...broken,
    close: async () => void closed.push("store"),
  });
  const { directory } = createMemoryDirectory(systemClock);
  const options = { directory, store: opened, host: "127.0.0.1", port: 0, adminPort: 0, writeLog: () => undefined };
  await expect(startDataPlane({ ...options, ...wrong })).rejects.toThrow();
  expect(closed.filter((each) => each !== "undefined")).toEqual(
    "followEndedSessions" in broken ? ["store"] : ["ended sessions", "store"],
  );
});

it("an answer whose head can't be written is one failed request, and not two", async () => {
  const endings: unknown[] = [];
  const server = createHttpServer({
    serve: () => Promise.resolve({ context: {}, response: { status: 200, headers: { "X-Odd": "a\nb" }, text: "{}" } }),
    observe: (_exchange, ending) => void endings.push([ending.status, ending.code]),
    observeRefusal: () => undefined,
    observeClosed: () => undefined,
    memory: memoryLimits(),
    lifecycle: { stopping: false },
    logger: createLogger({ level: "error", clock: systemClock, write: () => undefined }),
    trustedProxies: [],
  });
  closing.push(() => server.close());
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  const reply = await send(url, "/");
  expect([reply.status, reply.code]).toEqual([500, "internal_error"]);
  await server.close();
  expect(endings).toEqual([[500, "internal_error"]]);
});
