// A request may wait for seconds: for its project's share of the replica, and a write behind other
// patches of the same value. What holds when it has waited decides whether it is carried out, and
// on what.

import { describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import { purgeCollection, purgeDocument } from "../../dataplane/config/purge-steps.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { type Reply, type SentRequest, send } from "../support/http/http-client.ts";
import {
  apikey,
  type Modifier,
  project,
  withConfig,
  withKey,
  withoutKey,
  withResource,
  withRootKey,
} from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const [late, other] = [apikey("late"), apikey("other")];
const patch = { method: "PATCH", headers: { "content-type": "application/merge-patch+json" } };
const shop = (): CompiledProject =>
  project(
    "shop",
    withKey("late", { role: "Administrators" }),
    withKey("other", { role: "Administrators" }),
    withResource("books"),
    withRootKey("flags", { initialValue: '{"of":"the first"}' }),
    withRootKey("busy"),
  );
const strict = { type: "object", properties: { title: { type: "string" } }, additionalProperties: false };
const neighbour = project("neighbour", withKey("other"), withResource("books"));
/** Stands still, so that the neighbour asked just now, and nothing has waited for too long. */
const clock: Clock = { now: systemClock.now, monotonic: () => 0 };
const withoutData: Modifier = (parts) => ({ ...parts, resources: new Map(), rootKeys: new Map() });

interface Waiting {
  readonly served: Served;
  /** Its answer, once what it waits for is over. */
  written(): Promise<Reply>;
}

type Wait = (path: string, sent: SentRequest, check: (waiting: Waiting) => Promise<void>) => Promise<void>;

/** Sends a request while so many requests that came before it hang in the store. */
function behind(count: number, before: (served: Served) => Promise<Reply>): Wait {
  return async (path, sent, check) => {
    const store = await createEmbeddedStore({ directory: ":memory:", clock });
    const gate = Promise.withResolvers<void>();
    let held = 0;
    const readAt: Store["readAt"] = async (...call) => {
      held += 1;
      await gate.promise;
      return store.readAt(...call);
    };
    const served = await serveFrom({ ...store, readAt }, [shop(), neighbour], { clock });
    const others = Array.from({ length: count }, () => before(served));
    await eventually(() => expect(held).toBe(count));
    // Where nobody else asks, a project may have more in progress than its share.
    await send(served.origin, `/${served.namespace}/neighbour/api/books`, { as: other });
    const reply = served.send(path, sent);
    // Sent later and answered, over a connection that is new as well: the other has been received
    // by then.
    await served.send("/openapi.json", { as: other });
    await check({
      served,
      written() {
        gate.resolve();
        return reply;
      },
    });
    await Promise.all(others);
    await served.plane.close();
    await store.close();
  };
}

/** All that a project may read at once while others ask. */
const forItsShare = behind(8, (served) => served.send("/json/busy", { as: other }));
const behindAPatch = behind(1, (served) => served.send("/json/flags", { ...patch, as: other, body: {} }));

describe.each<readonly [string, Wait, string, SentRequest]>([
  ["an object that waits for its share", forItsShare, "/api/books", { method: "POST" }],
  ["a value that waits for its share", forItsShare, "/json/flags", { method: "PUT" }],
  ["a value that waits behind a patch", behindAPatch, "/json/flags", patch],
])("a write of %s", (_, waits, path, sent) => {
  const request = { ...sent, as: late, body: { a: 1 } };

  it.each<readonly [string, Modifier, number]>([
    ["whose key was revoked meanwhile", withoutKey("late"), 401],
    ["whose key may only read by now", withKey("late", { access: "Read" }), 403],
    ["of a project that is read-only by now", withConfig({ serving: "ReadOnly" }), 403],
    ["of a project that was switched off meanwhile", withConfig({ serving: "Off" }), 503],
  ])("%s is not carried out", async (_, change, status) => {
    await waits(path, request, async ({ served, written }) => {
      served.change(change);
      expect((await written()).status).toBe(status);
      served.change(withConfig({ serving: "ReadWrite" }));
      expect((await served.send(path, { as: other })).text).not.toContain('"a":1');
    });
  });

  it("is carried out although something else changed", async () => {
    await waits(path, request, async ({ served, written }) => {
      served.change(withKey("new"));
      expect([200, 201]).toContain((await written()).status);
      expect((await served.send(path, { as: other })).text).toContain('"a":1');
    });
  });
});

describe.each(["/api/books", "/json/flags"])("a read of %s that waits for its share", (path) => {
  it.each<readonly [string, Modifier, number]>([
    ["whose key was revoked meanwhile", withoutKey("late"), 401],
    ["of a project that was switched off meanwhile", withConfig({ serving: "Off" }), 503],
    ["of a project in which something else changed", withKey("new"), 200],
  ])("%s is answered by what holds then", async (_, change, status) => {
    await forItsShare(path, { as: late }, async ({ served, written }) => {
      served.change(change);
      expect((await written()).status).toBe(status);
    });
  });
});

it("is not carried out by the rules of a resource that was purged and made anew while it waited", async () => {
  await forItsShare("/api/books", { method: "POST", as: late, body: { a: 1 } }, async ({ served, written }) => {
    const { project: ref } = served.change(withoutData);
    expect(await purgeCollection(served.store, { project: ref, resource: "books" })).toBe(true);
    served.change(withResource("books", { schema: strict }), withRootKey("busy"));
    expect((await written()).status).toBe(400);
    expect((await served.send("/api/books", { as: other })).json()).toMatchObject({ count: 0 });
  });
});

it("does not begin with the initial value of a root key that was purged and made anew while it waited", async () => {
  await behindAPatch("/json/flags", { ...patch, as: late, body: { a: 1 } }, async ({ served, written }) => {
    const { project: ref } = served.change(withoutData);
    expect(await purgeDocument(served.store, { project: ref, rootKey: "flags" })).toBe(true);
    served.change(withRootKey("flags", { initialValue: '{"of":"the second"}' }));
    expect((await written()).json()).toEqual({ of: "the second", a: 1 });
  });
});
