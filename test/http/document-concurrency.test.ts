// Requests that meet inside one root key's value: each is one atomic step, so nothing is lost,
// doubled or half done.

import { expect, it } from "vitest";
import type { Store } from "../../dataplane/store/port.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, project, withKey, withRootKey } from "../support/http/projects.ts";
import { describeReplicas, describeServed, type Served, serveFrom } from "../support/http/served.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const as = apikey("writer");
const shop = project("shop", withKey("writer"), withRootKey("doc", { initialValue: '{"list":[],"map":{},"n":0}' }));

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const call = (served: Served, method: string, path: string, body?: unknown) =>
  served.send(`/json/doc${path}`, { method, as, ...(body !== undefined && { body: JSON.stringify(body) }) });
const merge = (served: Served, path: string, body: unknown) =>
  served.send(`/json/doc${path}`, {
    method: "PATCH",
    as,
    body: JSON.stringify(body),
    headers: { "content-type": "application/merge-patch+json" },
  });
const tally = (replies: readonly Reply[]) => {
  const counts: Record<string, number> = {};
  for (const { code, status } of replies) counts[code ?? status] = (counts[code ?? status] ?? 0) + 1;
  return counts;
};
/** By a clock that stands still nobody waits too long for a turn, however busy the machine is. */
const unhurried = () => ({ clock: manualClock(Date.now()) });
const readList = async (served: Served) => (await served.send("/json/doc/list")).json<number[]>();

describeServed("a thousand requests at once", (serve) => {
  it("that append leave a thousand elements, each once", async () => {
    const served = await serve(shop, unhurried());
    const replies = await Promise.all(numbers(1000).map((n) => call(served, "POST", "/list/-", n)));
    expect(tally(replies)).toEqual({ 201: 1000 });
    expect((await readList(served)).sort((a, b) => a - b)).toEqual(numbers(1000));
  });

  it("that insert at the front leave a thousand elements, each once", async () => {
    const served = await serve(shop, unhurried());
    const replies = await Promise.all(numbers(1000).map((n) => call(served, "POST", "/list/0", n)));
    expect(tally(replies)).toEqual({ 201: 1000 });
    expect((await readList(served)).sort((a, b) => a - b)).toEqual(numbers(1000));
  });

  it("that add keys of their own leave them all, under plain and odd names", async () => {
    const served = await serve(shop, unhurried());
    const replies = await Promise.all(
      numbers(1000).map((n) => call(served, "PUT", `/map/${n % 2 === 0 ? `k${n}` : `%22%27${n}`}`, n)),
    );
    expect(tally(replies)).toEqual({ 201: 1000 });
    expect(Object.keys((await served.send("/json/doc/map")).json())).toHaveLength(1000);
  });
});

describeServed("requests for one place at once", (serve) => {
  it("add a key once: one POST is answered 201, all others 409", async () => {
    const served = await serve(shop, unhurried());
    const replies = await Promise.all(numbers(50).map((n) => call(served, "POST", "/winner", n)));
    expect(tally(replies)).toEqual({ 201: 1, key_exists: 49 });
    const winner = replies.find(({ status }) => status === 201);
    expect((await served.send("/json/doc/winner")).text).toBe(winner?.text);
  });

  it("add a key by PUT once: one is answered 201, all others 200, and one of them is what stays", async () => {
    const served = await serve(shop, unhurried());
    const replies = await Promise.all(numbers(50).map((n) => call(served, "PUT", "/a%22%27b", n)));
    expect(tally(replies)).toEqual({ 200: 49, 201: 1 });
    expect(replies.map(({ text }) => text)).toContain((await served.send("/json/doc/a%22%27b")).text);
  });

  it("remove a key once: one DELETE is answered 200, all others 404", async () => {
    const served = await serve(shop, unhurried());
    const replies = await Promise.all(numbers(50).map(() => call(served, "DELETE", "/n")));
    expect(tally(replies)).toEqual({ 200: 1, not_found: 49 });
  });

  it("take elements off an array one each, and no more than there are", async () => {
    const served = await serve(shop, unhurried());
    await call(served, "PUT", "/list", numbers(30));
    const replies = await Promise.all(numbers(50).map(() => call(served, "DELETE", "/list/0")));
    expect(tally(replies)).toEqual({ 200: 30, not_found: 20 });
    expect(await readList(served)).toEqual([]);
  });

  it("replace whole values: a read in between sees one of them, never a mixture", async () => {
    const served = await serve(shop, unhurried());
    const whole = (n: number) => ({ list: numbers(100).map(() => n), map: { n } });
    await call(served, "PUT", "", whole(0));
    const writes = numbers(40).map((n) => call(served, "PUT", "", whole(n)));
    const reads = numbers(40).map(() => served.send("/json/doc"));
    expect(tally(await Promise.all(writes))).toEqual({ 200: 40 });
    for (const reply of await Promise.all(reads)) {
      const { list, map } = reply.json<{ list: number[]; map: { n: number } }>();
      expect(new Set(list)).toEqual(new Set([map.n]));
    }
  });
});

describeServed("mixed writes at once", (serve) => {
  it("leave exactly what their answers say", async () => {
    const served = await serve(shop, unhurried());
    const keys = numbers(20).map((n) => (n % 4 === 0 ? `%22%27${n}` : `k${n}`));
    const appended = numbers(200).map((n) => call(served, "POST", "/list/-", n));
    const popped = numbers(100).map(() => call(served, "DELETE", "/list/0"));
    const added = keys.flatMap((key) => numbers(5).map((n) => call(served, "POST", `/map/${key}`, n)));
    const put = numbers(60).map((n) => call(served, "PUT", "/n", n));
    const [appends, pops, adds, puts] = await Promise.all(
      [appended, popped, added, put].map((all) => Promise.all(all)),
    );

    expect(tally(appends ?? [])).toEqual({ 201: 200 });
    expect(tally(puts ?? [])).toEqual({ 200: 60 });
    expect(tally(adds ?? [])).toEqual({ 201: 20, key_exists: 80 });
    const removed = (pops ?? []).filter(({ status }) => status === 200).length;
    const left = await readList(served);
    expect(left).toHaveLength(200 - removed);
    expect(new Set(left).size).toBe(left.length);
    expect(Object.keys((await served.send("/json/doc/map")).json())).toHaveLength(20);
    expect((puts ?? []).map(({ text }) => text)).toContain((await served.send("/json/doc/n")).text);
  });

  it("under a parent that comes and goes are done whole or refused as a whole", async () => {
    const served = await serve(shop, unhurried());
    const replies = await Promise.all(
      numbers(300).map((n) => {
        if (n % 3 === 0) return call(served, "PUT", "/parent", {});
        if (n % 3 === 1) return call(served, "POST", `/parent/c${n}`, n);
        return call(served, "DELETE", "/parent");
      }),
    );
    const allowed = new Set(["200", "201", "parent_not_found", "not_found"]);
    expect(Object.keys(tally(replies)).filter((outcome) => !allowed.has(outcome))).toEqual([]);
    expect(
      Object.keys((await served.send("/json/doc")).json()).filter(
        (key) => !["list", "map", "n", "parent"].includes(key),
      ),
    ).toEqual([]);
  });

  it("as the very first ones all land on the initial value", async () => {
    const served = await serve(shop, unhurried());
    const replies = await Promise.all(numbers(60).map((n) => call(served, "POST", `/map/k${n}`, n)));
    expect(tally(replies)).toEqual({ 201: 60 });
    const stored = (await served.send("/json/doc")).json<{ map: object; list: unknown }>();
    expect(Object.keys(stored.map)).toHaveLength(60);
    expect(stored.list).toEqual([]);
  });
});

describeServed("patches of one value at once", (serve) => {
  for (const [path, name] of [
    ["/map", "a plain"],
    ["/map/%22", "an odd"],
  ] as const) {
    it(`under ${name} name take turns from the read on, so that none reads or writes for nothing`, async () => {
      const { store } = await serve(shop, unhurried());
      const asked = { readAt: 0, putAt: 0 };
      const counting: Store = {
        ...store,
        readAt(...call) {
          asked.readAt += 1;
          return store.readAt(...call);
        },
        putAt(...call) {
          asked.putAt += 1;
          return store.putAt(...call);
        },
      };
      const served = await serveFrom(counting, [shop]);
      try {
        await call(served, "PUT", path, {});
        Object.assign(asked, { readAt: 0, putAt: 0 });
        const replies = await Promise.all(numbers(20).map((n) => merge(served, path, { [`k${n}`]: n })));
        expect(tally(replies)).toEqual({ 200: 20 });
        expect(asked).toEqual({ readAt: 20, putAt: 20 });
        expect(Object.keys((await served.send(`/json/doc${path}`)).json())).toHaveLength(20);
      } finally {
        await served.plane.close();
      }
    });
  }
});

describeReplicas("inside a root key", (serveTwice) => {
  it("an acknowledged write is seen by every later read on any replica", async () => {
    const [one, other] = await serveTwice(shop, unhurried());
    for (let n = 0; n < 50; n += 1) {
      const [writes, reads] = n % 2 === 0 ? [one, other] : [other, one];
      expect((await call(writes, "PUT", "/n", n)).status).toBe(200);
      expect((await reads.send("/json/doc/n")).text).toBe(String(n));
      expect((await call(writes, "POST", `/map/k${n}`, n)).status).toBe(201);
      expect((await reads.send(`/json/doc/map/k${n}`)).text).toBe(String(n));
    }
  });

  it("writes of two replicas at once are each one atomic step", async () => {
    const [one, other] = await serveTwice(shop, unhurried());
    const of = (n: number) => (n % 2 === 0 ? one : other);
    const appends = await Promise.all(numbers(400).map((n) => call(of(n), "POST", "/list/-", n)));
    const adds = await Promise.all(numbers(40).map((n) => call(of(n), "POST", "/winner%22%27", n)));
    expect([tally(appends), tally(adds)]).toEqual([{ 201: 400 }, { 201: 1, key_exists: 39 }]);
    expect((await readList(one)).sort((a, b) => a - b)).toEqual(numbers(400));
  });
});
