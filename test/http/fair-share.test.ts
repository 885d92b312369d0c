// What one project's callers can take of a replica while another project's ask as well: a share,
// whatever they send and however many connections they have.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { contendedLimit, maxWaitMs } from "../../dataplane/admission/fair-share.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { type Reply, send } from "../support/http/http-client.ts";
import { apikey, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { openRaw } from "../support/http/raw-http.ts";
import { expectProblem } from "../support/http/replies.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { type ManualClock, manualClock } from "../support/time/manual-clock.ts";

const loudProject = project(
  "loud",
  withKey("loud"),
  withKey("admin", { role: "Administrators" }),
  withRootKey("doc", { initialValue: '{"a":1}' }),
  withResource("things", { schema: { type: "object", properties: { colour: { type: "string" } } } }),
);
const quietProject = project("quiet", withRootKey("doc", { initialValue: '{"a":1}' }));

let store: Store;
let clock: ManualClock;
let served: Served;
/** Reads of the loud project that the store has and does not answer yet. */
let held: { answer(): void; fail(): void }[];
let holding: boolean;

beforeEach(async () => {
  held = [];
  holding = true;
  clock = manualClock();
  const inner = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const hold = async (name: string): Promise<void> => {
    if (!holding || name !== "loud") return;
    await new Promise<void>((answer, refuse) => {
      held.push({ answer, fail: () => refuse(new Error("The store broke")) });
    });
  };
  store = {
    ...inner,
    readAt: async (document, path) => {
      await hold(document.project.name);
      return inner.readAt(document, path);
    },
    sessions: async (project, filter) => {
      await hold(project.name);
      return inner.sessions(project, filter);
    },
    async *scan(collection, visible) {
      await hold(collection.project.name);
      yield* inner.scan(collection, visible);
    },
  };
  served = await serveFrom(store, [loudProject, quietProject], { clock });
});

afterEach(async () => {
  holding = false;
  for (const { answer } of held) answer();
  await served.plane.close();
  await store.close();
});

const quietly = (): Promise<Reply> => send(served.origin, `/${served.namespace}/quiet/json/doc`);
const loudly = (times: number): Promise<Reply>[] => Array.from({ length: times }, () => served.send("/json/doc/a"));

describe("two projects of one replica", () => {
  it("have a share each: the loud one's requests wait for each other, and the quiet one's are answered", async () => {
    expect((await quietly()).status).toBe(200);
    const loud = loudly(30);
    await eventually(() => expect(held).toHaveLength(contendedLimit));
    expect((await quietly()).status).toBe(200);
    expect(held).toHaveLength(contendedLimit);
    holding = false;
    for (const { answer } of held) answer();
    expect((await Promise.all(loud)).map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 200));
  });

  it("get their share back when work fails", async () => {
    await quietly();
    const broken = loudly(contendedLimit);
    await eventually(() => expect(held).toHaveLength(contendedLimit));
    const next = loudly(1);
    for (const { fail } of held.splice(0)) fail();
    expect((await Promise.all(broken)).map(({ status }) => status)).toEqual(Array.from(broken, () => 500));
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.answer();
    expect((await next[0])?.status).toBe(200);
  });

  it("say when a request waited too long for its share, and when to try again", async () => {
    await quietly();
    const first = loudly(contendedLimit);
    await eventually(() => expect(held).toHaveLength(contendedLimit));
    const late = loudly(2);
    // A request of its own connection that is refused at once has come after both.
    await eventually(async () => expect((await served.send("/json/none")).status).toBe(404));
    clock.advance(maxWaitMs + 1);
    await quietly();
    held.shift()?.answer();
    for (const reply of await Promise.all(late)) {
      expectProblem(reply, "project_busy");
      expect(reply.headers["retry-after"]).toBe("1");
    }
    holding = false;
    for (const { answer } of held) answer();
    await Promise.all(first);
  });

  it("take no share for bodies that are still to come", async () => {
    await quietly();
    const head = `PUT ${served.base}/json/doc/a HTTP/1.1\r\nHost: a\r\nAuthorization: ${apikey("loud")}\r\nContent-Length: 9\r\n\r\n`;
    const slow = Array.from({ length: contendedLimit }, () => openRaw(served.origin));
    for (const connection of slow) connection.write(head);
    holding = false;
    expect((await served.send("/json/doc/a")).status).toBe(200);
    for (const connection of slow) connection.end();
  });

  it("take their share before a body is read: also a wrong one is refused only then", async () => {
    await quietly();
    const first = loudly(contendedLimit);
    await eventually(() => expect(held).toHaveLength(contendedLimit));
    let isRefused = false;
    const wrong = served.send("/json/doc/a", { method: "PUT", body: "{", as: apikey("loud") });
    void wrong.then(() => {
      isRefused = true;
    });
    for (let times = 0; times < 20; times += 1) await quietly();
    expect(isRefused).toBe(false);
    holding = false;
    for (const { answer } of held) answer();
    expectProblem(await wrong, "malformed_json");
    await Promise.all(first);
  });

  it("take a share for lists of sessions, of which one at a time reads the store while another project asks", async () => {
    await quietly();
    const lists = [1, 2, 3].map(() => served.send("/sessions", { as: apikey("admin") }));
    await eventually(() => expect(held).toHaveLength(1));
    // A read waits behind the lists.
    const read = loudly(1);
    expect((await quietly()).status).toBe(200);
    expect(held).toHaveLength(1);
    for (let answered = 1; answered <= 3; answered += 1) {
      held[answered - 1]?.answer();
      await eventually(() => expect(held).toHaveLength(answered + 1));
    }
    holding = false;
    held.at(-1)?.answer();
    expect((await Promise.all([...lists, ...read])).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it("take no share for scans, which have turns of their own", async () => {
    await quietly();
    const sent = { headers: { authorization: apikey("loud") } };
    const scans = Array.from({ length: contendedLimit }, () => served.send("/api/things?colour=red", sent));
    await eventually(() => expect(held).toHaveLength(contendedLimit));
    const read = served.send("/json/doc/a");
    await eventually(() => expect(held).toHaveLength(contendedLimit + 1));
    for (const { answer } of held) answer();
    expect((await Promise.all([...scans, read])).map(({ status }) => status)).toEqual(
      Array.from({ length: contendedLimit + 1 }, () => 200),
    );
  });
});
