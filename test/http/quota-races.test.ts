// A quota under writes at one time: one replica holds it exactly, whatever they replace, add and
// remove, and refuses none that has room.

import { describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { ProjectQuota } from "../../core/config/types.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { outcome } from "../support/http/api-calls.ts";
import { apikey, changed, project, withKey, withLimits, withRootKey } from "../support/http/projects.ts";
import { describeServedOnBothStores, serveFrom } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const as = apikey("admin");
const shop = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withLimits({ quota: { documentKeys: 3 } }),
  withRootKey("kv", { initialValue: "{}" }),
  withRootKey("list", { initialValue: "[]" }),
);

describe("a quota of document keys while a whole value is on its way", () => {
  it("goes by what the value replaces when it is stored, not by what was there before", async () => {
    const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
    let goOn = (): void => undefined;
    let isAsked = false;
    let waits = false;
    const documentSize: Store["documentSize"] = async (document) => {
      const figures = await store.documentSize(document);
      if (waits && document.rootKey === "kv") {
        waits = false;
        isAsked = true;
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
      }
      return figures;
    };
    const served = await serveFrom({ ...store, documentSize }, [shop], {
      quotaRoundMs: 600_000,
    });
    const ask = async (method: string, path: string, body?: unknown) =>
      outcome(await served.send(path, { method, ...(body !== undefined && { body }), as }));
    expect(await ask("PUT", "/json/kv", { a: 1, b: 1, c: 1 })).toEqual([200, undefined]);
    waits = true;
    const late = ask("PUT", "/json/kv", { x: 1, y: 1, z: 1 });
    await eventually(() => expect(isAsked).toBe(true));
    for (const key of ["a", "b", "c"]) expect(await ask("DELETE", `/json/kv/${key}`)).toEqual([200, undefined]);
    for (const at of ["0", "1", "2"]) expect(await ask("POST", `/json/list/${at}`, 1)).toEqual([201, undefined]);
    goOn();
    expect(await late).toEqual([403, "quota_exceeded"]);
    expect((await served.send("/json/kv", { as })).text).toBe("{}");
    await served.plane.close();
    await store.close();
  });
});

const wholes = [{}, { a: 1 }, { a: 1, b: 1 }, { a: 1, b: 1, c: 1 }];
/** Method, path and body of the n-th write of each kind. */
const requests: readonly ((n: number) => readonly [method: string, path: string, body?: unknown])[] = [
  (n) => ["PUT", "/json/kv", wholes[n % 4]],
  (n) => ["DELETE", `/json/kv/${"abc"[n % 3]}`],
  (n) => ["PUT", `/json/kv/o%22${n % 3}`, 1],
  (n) => ["PUT", "/json/list", Array(n % 4).fill(1)],
  () => ["DELETE", "/json/list/0"],
  () => ["POST", "/json/list/-", 1],
];

describeServedOnBothStores("a quota of document keys under writes at one time", (serve) => {
  it("is never exceeded, and has all its room when they are gone", async () => {
    const served = await serve(shop);
    const members = async () => {
      const values = await Promise.all(["kv", "list"].map((name) => served.send(`/json/${name}`, { as })));
      return values.reduce((sum, value) => sum + Object.keys(value.json()).length, 0);
    };
    for (let round = 0; round < 6; round += 1) {
      const replies = await Promise.all(
        Array.from({ length: 24 }, (_, at) => {
          const [method, path, body] = requests[(at * 7 + round) % requests.length]?.(at + round) ?? [
            "GET",
            "/json/kv",
          ];
          return served.send(path, { method, body, as });
        }),
      );
      for (const reply of replies) expect([200, 201, 403, 404]).toContain(reply.status);
      expect(await members()).toBeLessThanOrEqual(3);
    }
    await served.send("/json/kv", { method: "PUT", body: {}, as });
    await served.send("/json/list", { method: "PUT", body: [], as });
    expect(outcome(await served.send("/json/kv", { method: "PUT", body: wholes[3], as }))).toEqual([200, undefined]);
  });
});

/**
 * Each has room for what adds a little, and not for all that the writes next to it may add, which
 * add nothing.
 */
const crowds: readonly (readonly [string, ProjectQuota, unknown])[] = [
  ["bytes", { bytes: 100_000 }, "x".repeat(60_000)],
  ["document keys", { documentKeys: 2 }, 1],
];

describeServedOnBothStores("a quota beside writes that may add something, and add nothing", (serve) => {
  it.each(crowds)("of %s refuses no write that has room", async (_, quota, value) => {
    const served = await serve(changed(shop, withLimits({ quota })));
    const put = (key: string, body: unknown) =>
      served.send(`/json/kv/${key}`, { method: "PUT", body: JSON.stringify(body), as });
    expect((await put("kept", value)).status).toBe(201);
    for (let round = 0; round < 20; round += 1) {
      const before = Array.from({ length: 4 }, () => put("kept", value));
      const added = put("added", 1);
      const after = Array.from({ length: 4 }, () => put("kept", value));
      expect(outcome(await added)).toEqual([201, undefined]);
      for (const reply of await Promise.all([...before, ...after])) expect(reply.status).toBe(200);
      expect((await served.send("/json/kv/added", { method: "DELETE", as })).status).toBe(200);
    }
  });
});
