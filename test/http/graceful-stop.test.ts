// What clients see while a data plane closes: requests under way are answered, nobody waits for
// ever, nothing new is begun.

import { once } from "node:events";
import { request } from "node:http";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { send } from "../support/http/http-client.ts";
import { apikey, project, withKey, withRootKey } from "../support/http/projects.ts";
import { openRaw, parseReplies } from "../support/http/raw-http.ts";
import { expectProblem } from "../support/http/replies.ts";
import { describeServed, type Served, serveFrom } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const shop = project("shop", withKey("writer"), withRootKey("doc", { initialValue: '{"a":1}' }));

const putHead = (served: Served, length: number) =>
  `PUT ${served.base}/json/doc/k HTTP/1.1\r\nHost: a\r\nAuthorization: ${apikey("writer")}\r\nContent-Length: ${length}\r\n\r\n`;

/** Of the admin port, while it still answers. */
const readiness = async (served: Served) => (await send(served.adminUrl, "/readyz")).text;

const readStored = (served: Served) =>
  served.store.readAt({ project: { namespace: served.namespace, name: "shop" }, rootKey: "doc" }, ["k"]);

async function begun(served: Served) {
  const connection = openRaw(served.origin);
  connection.write(`${putHead(served, 2)}4`);
  // Another request goes through the same accept queue: once it is answered, the first one has
  // arrived.
  await served.send("/json/doc");
  return connection;
}

/**
 * A worker thread: sends a text over each of some connections, says in shared memory that all are
 * sent, and then what came over each.
 */
const otherClient = `
  const { connect } = require("node:net");
  const { parentPort, workerData } = require("node:worker_threads");
  const { hostname, port, text, count, written } = workerData;
  const isWritten = () => {
    if (Atomics.add(written, 0, 1) + 1 === count) Atomics.notify(written, 0);
  };
  const exchange = () =>
    new Promise((resolve) => {
      let received = "";
      const socket = connect(port, hostname, () => socket.write(text, isWritten));
      socket.on("data", (bytes) => (received += bytes));
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(received));
    });
  Promise.all(Array.from({ length: count }, exchange)).then((all) => parentPort.postMessage(all));
`;

/**
 * While this thread stands still, sends a request over so many new connections; resolves with what
 * each receives until it is closed.
 */
function sendWhileStill({ origin, base }: Served, count: number): Promise<readonly string[]> {
  const written = new Int32Array(new SharedArrayBuffer(4));
  const { hostname, port } = new URL(origin);
  const text = `GET ${base}/json/doc HTTP/1.1\r\nHost: a\r\n\r\n`;
  const workerData = { hostname, port: Number(port), text, count, written };
  const client = new Worker(otherClient, { eval: true, workerData });
  const received = once(client, "message").then(([all]) => all as readonly string[]);
  for (let sent = 0; sent < count; sent = Atomics.load(written, 0)) {
    expect(Atomics.wait(written, 0, sent, 20_000)).not.toBe("timed-out");
  }
  return received;
}

const statuses = (received: string) => parseReplies(received).map(({ status }) => status);

describeServed("a data plane that closes", (serve) => {
  it("answers the request under way, writes included, and then ends", async () => {
    const served = await serve(shop);
    const connection = await begun(served);
    const closed = served.plane.close();
    expect(await readiness(served)).toBe("stopping\n");
    connection.write("2");
    const replies = parseReplies(await connection.closed());
    expect(replies.map(({ status, body }) => [status, body])).toEqual([[201, "42"]]);
    await closed;
    expect(await readStored(served)).toEqual({ outcome: "found", text: "42" });
  });

  it("says on the admin port that it is stopping while it answers, and is still alive", async () => {
    const served = await serve(shop);
    const connection = await begun(served);
    const closed = served.plane.close();
    const ready = await send(served.adminUrl, "/readyz");
    expect([ready.status, ready.text]).toEqual([503, "stopping\n"]);
    expect((await send(served.adminUrl, "/livez")).status).toBe(200);
    connection.write("2");
    await closed;
    await expect(send(served.adminUrl, "/livez")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("takes no new connection", async () => {
    const served = await serve(shop);
    const connection = await begun(served);
    const closed = served.plane.close();
    await eventually(async () => {
      await expect(served.send("/json/doc")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    });
    connection.write("2");
    await closed;
  });

  it("takes new connections while it drains, and ends each with its answer", async () => {
    const served = await serve(shop, { drainMs: 4_000 });
    const idle = openRaw(served.origin);
    idle.write(`GET ${served.base}/json/doc HTTP/1.1\r\nHost: a\r\n\r\n`);
    await idle.arrived('{"a":1}');
    const closed = served.plane.close();
    expect(await readiness(served)).toBe("stopping\n");
    const asked = await served.send("/json/doc");
    expect([asked.status, asked.headers["connection"]]).toEqual([200, "close"]);
    idle.write(`GET ${served.base}/json/none HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(statuses(await idle.closed())).toEqual([200, 404]);
    await closed;
    await expect(served.send("/json/doc")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("lets go of idle connections at once, and of a busy one after its answer", async () => {
    const served = await serve(shop);
    const idle = openRaw(served.origin);
    idle.write(`GET ${served.base}/json/doc HTTP/1.1\r\nHost: a\r\n\r\n`);
    await idle.arrived('{"a":1}');
    const silent = openRaw(served.origin);
    const connection = await begun(served);
    const closed = served.plane.close();
    await idle.closed();
    expect(await silent.closed()).toBe("");
    connection.write("2");
    expect(statuses(await connection.closed())).toEqual([201]);
    await closed;
  });

  it("answers what an idle connection had sent already and this process had not read", async () => {
    const served = await serve(shop);
    const get = `GET ${served.base}/json/doc HTTP/1.1\r\nHost: a\r\n\r\n`;
    const connections = Array.from({ length: 20 }, () => openRaw(served.origin));
    for (const connection of connections) {
      connection.write(get);
      await connection.arrived('{"a":1}');
    }
    // The bytes are with the kernel when this turn of the event loop ends.
    for (const connection of connections) connection.write(get);
    const closed = served.plane.close();
    for (const connection of connections) {
      expect(statuses(await connection.closed())).toEqual([200, 200]);
    }
    await closed;
  });

  it("answers what connections had sent that were opened while this process did something else", async () => {
    const served = await serve(shop);
    const received = sendWhileStill(served, 20);
    const closed = served.plane.close();
    expect((await received).map(statuses)).toEqual(Array.from({ length: 20 }, () => [200]));
    await closed;
  });

  it("serves what a connection that it knows had sent already, in the usual shape, and closes that connection", async () => {
    const served = await serve(shop);
    const connection = await begun(served);
    const closed = served.plane.close();
    connection.write(`2GET ${served.base}/json/none HTTP/1.1\r\nHost: a\r\n\r\n`);
    const [, second] = parseReplies(await connection.closed());
    if (second) expectProblem({ ...second, text: second.body }, "unknown_root_key");
    await closed;
  });

  it("does not wait for ever for a client that sends no more", async () => {
    const served = await serve(shop, { closeTimeoutMs: 100 });
    const connection = await begun(served);
    await served.plane.close();
    expect(await connection.closed()).toBe("");
    expect((await readStored(served))?.outcome).not.toBe("found");
  });

  it("has written the last log line of every request when it is closed", async () => {
    const served = await serve(shop);
    const replies = await Promise.all(Array.from({ length: 20 }, () => served.send("/json/doc")));
    await served.plane.close();
    const lines = served.log().trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { requestId: string }).requestId).sort()).toEqual(
      replies.map(({ headers }) => headers["x-request-id"]).sort(),
    );
  });
});

it("waits for the store's answer to a write that it has sent", async () => {
  const real = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const held = Promise.withResolvers<void>();
  const store: Store = Object.assign(Object.create(real) as Store, {
    putAt: async (...args: Parameters<Store["putAt"]>) => {
      await held.promise;
      return real.putAt(...args);
    },
  });
  const served = await serveFrom(store, [shop]);
  const answered = new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization: apikey("writer") };
    const path = `${served.base}/json/doc/k`;
    const outgoing = request(served.origin + path, { method: "PUT", headers }, ({ statusCode }) => resolve(statusCode));
    outgoing.on("error", reject);
    outgoing.end("1");
  });
  await served.send("/json/doc");
  let ended = false;
  const closed = served.plane.close().then(() => {
    ended = true;
  });
  await readiness(served);
  expect(ended).toBe(false);
  held.resolve();
  expect(await answered).toBe(201);
  await closed;
  await real.close();
});
