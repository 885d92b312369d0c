// The three figures of Key/Value requests on the admin port: the hour's count, statuses per five
// minutes, mean time per five minutes, for each project and root key, as JSON and as a page.

import { expect, it } from "vitest";
import { send } from "../support/http/http-client.ts";
import {
  apikey,
  project,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withServing,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const writer = apikey("writer");
const minute = 60_000;
/** 12:00:00 UTC. */
const noon = Date.UTC(2026, 0, 1, 12);
const start = noon / 1000;
const shop = project(
  "shop",
  withKey("writer"),
  withLimits({ maxBodyBytes: 1000 }),
  withRootKey("doc", { initialValue: '{"a":1}' }),
  withRootKey("flags"),
  withResource("things"),
);

interface Figures {
  readonly requestsLastHour: number;
  readonly buckets: readonly {
    readonly start: number;
    readonly statuses: Readonly<Record<string, number>>;
    readonly meanMilliseconds: number | null;
  }[];
}
interface Usage extends Figures {
  readonly rootKeys: Readonly<Record<string, Figures>>;
}

async function usageOf(served: Served, name = "shop"): Promise<Usage> {
  return (await send(served.adminUrl, `/usage/${served.namespace}/${name}`)).json<Usage>();
}

/** A request is counted when its answer is out, a moment after the client has it. */
async function counted(served: Served, requests: number): Promise<Usage> {
  return eventually(async () => {
    const usage = await usageOf(served);
    expect(usage.requestsLastHour).toBe(requests);
    return usage;
  });
}

const statuses = (figures: Figures | undefined) =>
  figures?.buckets.map((bucket) => bucket.statuses).filter((each) => Object.keys(each).length > 0);

describeServed("the usage figures", (serve) => {
  it("are zero in twelve buckets of five minutes for a project that nobody asked", async () => {
    const served = await serve(shop, { clock: manualClock(noon + 2 * minute) });
    const usage = await usageOf(served);
    expect(usage).toEqual({ requestsLastHour: 0, rootKeys: {}, buckets: usage.buckets });
    expect(usage.buckets).toEqual(
      Array.from({ length: 12 }, (_, n) => ({ start: start - 3300 + 300 * n, statuses: {}, meanMilliseconds: null })),
    );
  });

  it("count every request by status in its own five minutes, and by root key", async () => {
    const clock = manualClock(noon);
    const served = await serve(shop, { clock });
    await served.send("/json/doc");
    await served.send("/json/doc/a");
    await served.send("/json/doc/none");
    await served.send("/json/flags/x", { method: "PUT", body: 1, as: writer });
    await counted(served, 4);
    clock.advance(5 * minute);
    await served.send("/json/doc");
    const usage = await counted(served, 5);
    expect(usage.buckets.slice(-2).map((bucket) => [bucket.start, bucket.statuses])).toEqual([
      [start, { 200: 2, 201: 1, 404: 1 }],
      [start + 300, { 200: 1 }],
    ]);
    expect(statuses(usage)).toHaveLength(2);
    expect(Object.keys(usage.rootKeys).sort()).toEqual(["doc", "flags"]);
    expect([usage.rootKeys.doc?.requestsLastHour, usage.rootKeys.flags?.requestsLastHour]).toEqual([4, 1]);
    expect(statuses(usage.rootKeys.doc)).toEqual([{ 200: 2, 404: 1 }, { 200: 1 }]);
    expect(statuses(usage.rootKeys.flags)).toEqual([{ 201: 1 }]);
  });

  it("count refused requests of every kind, each once", async () => {
    const served = await serve(shop, { clock: manualClock(noon) });
    const refused = [
      await served.send("/json/doc/b", { method: "PUT", body: 1 }),
      await served.send("/json/doc/b", { method: "PUT", body: 1, as: "apikey wrong" }),
      await served.send("/json/doc/none"),
      await served.send("/json/doc/%zz"),
      await served.send(`/json/doc/${"x".repeat(2000)}`),
      await served.send("/json/doc", { method: "DELETE" }),
      await served.send("/json/doc", { method: "PROPFIND" }),
      await served.send("/json/doc/b", { method: "PUT", body: "{", as: writer }),
      await served.send("/json/doc/b", { method: "PUT", body: " ".repeat(1001), as: writer }),
      await served.send("/json/doc/b", { method: "PUT", body: "1", as: writer, headers: { "content-type": "a/b" } }),
      await served.send("/json/doc/a", { method: "POST", body: 1, as: writer }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 404, 400, 414, 405, 405, 400, 413, 415, 409]);
    const { rootKeys, buckets } = await counted(served, refused.length);
    const wanted = { 400: 2, 401: 2, 404: 1, 405: 2, 409: 1, 413: 1, 414: 1, 415: 1 };
    expect(buckets.at(-1)?.statuses).toEqual(wanted);
    expect(statuses(rootKeys.doc)).toEqual([wanted]);
  });

  it("count HEAD and preflights, and requests that a project's owner switched off", async () => {
    const served = await serve(shop, { clock: manualClock(noon) });
    await served.send("/json/doc", { method: "HEAD" });
    await served.send("/json/doc", { method: "OPTIONS" });
    served.change(withServing("ReadOnly"));
    await served.send("/json/doc/a", { method: "PUT", body: 1, as: writer });
    served.change(withServing("Off"));
    await served.send("/json/doc");
    expect(statuses(await counted(served, 4))).toEqual([{ 200: 1, 204: 1, 403: 1, 503: 1 }]);
  });

  it("gather root keys that the project does not have under one name, whatever they are called", async () => {
    const served = await serve(shop, { clock: manualClock(noon) });
    for (const key of ["none", "__proto__", "constructor", "(unknown)", "<b>", "x".repeat(500)]) {
      expect((await served.send(`/json/${encodeURIComponent(key)}/a`)).code).toBe("unknown_root_key");
    }
    const { rootKeys } = await counted(served, 6);
    expect(Object.keys(rootKeys)).toEqual(["(unknown)"]);
    expect(statuses(rootKeys["(unknown)"])).toEqual([{ 404: 6 }]);
  });

  it("know a root key that is named like an inherited member", async () => {
    const names = ["__proto__", "constructor", "toString"];
    const served = await serve(project("shop", ...names.map((name) => withRootKey(name))), {
      clock: manualClock(noon),
    });
    for (const name of names) expect((await served.send(`/json/${name}`)).text).toBe("{}");
    const { rootKeys } = await counted(served, 3);
    expect(Object.keys(rootKeys).sort()).toEqual(names);
  });

  it("leave out what is no Key/Value request of a known project", async () => {
    const served = await serve(shop, { clock: manualClock(noon) });
    await served.send("/api/things", { as: writer });
    await served.send("/sessions");
    await served.send("/json");
    await served.send("/nowhere");
    await send(served.origin, "/no/project/json/doc");
    await served.send("/json/doc");
    expect(statuses(await counted(served, 1))).toEqual([{ 200: 1 }]);
    const all = (await send(served.adminUrl, "/usage")).json<{ count: number; projects: Record<string, Usage> }>();
    expect([all.count, Object.keys(all.projects)]).toEqual([1, [`${served.namespace}/shop`]]);
  });

  it("hold the mean of the durations that the log names, per five minutes and per root key", async () => {
    const clock = manualClock(noon);
    const served = await serve(shop, { clock });
    for (let n = 0; n < 10; n += 1) await served.send(n % 2 === 0 ? "/json/doc" : "/json/flags");
    await counted(served, 10);
    clock.advance(5 * minute);
    await served.send("/json/doc");
    const usage = await counted(served, 11);
    const durations = served
      .log()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { path: string; durationMs: number });
    const mean = (lines: typeof durations) => lines.reduce((sum, line) => sum + line.durationMs, 0) / lines.length;
    const first = durations.slice(0, 10);
    const ofDoc = first.filter(({ path }) => path.endsWith("/doc"));
    expect(usage.buckets.at(-2)?.meanMilliseconds).toBeCloseTo(mean(first), 2);
    expect(usage.buckets.at(-1)?.meanMilliseconds).toBeCloseTo(mean(durations.slice(10)), 2);
    expect(usage.rootKeys.doc?.buckets.at(-2)?.meanMilliseconds).toBeCloseTo(mean(ofDoc), 2);
    expect(usage.rootKeys.flags?.buckets.at(-1)?.meanMilliseconds).toBeNull();
  });

  it("forget what is older than an hour, number by number", async () => {
    const clock = manualClock(noon);
    const served = await serve(shop, { clock });
    const counts: number[] = [];
    for (let n = 1; n <= 3; n += 1) {
      for (let times = 0; times < n; times += 1) await served.send("/json/doc");
      await counted(served, (n * (n + 1)) / 2);
      clock.advance(20 * minute);
    }
    for (let n = 0; n < 4; n += 1) {
      counts.push((await usageOf(served)).requestsLastHour);
      clock.advance(20 * minute);
    }
    // One at 12:00, two at 12:20, three at 12:40; asked at 13:00, 13:20, 13:40 and 14:00.
    expect(counts).toEqual([5, 3, 0, 0]);
    expect((await send(served.adminUrl, "/usage")).json()).toEqual({ count: 0, projects: {} });
  });

  it("are those of each project alone, over all its root keys", async () => {
    const served = await serve([shop, project("other", withRootKey("doc"))], { clock: manualClock(noon) });
    await served.send("/json/doc");
    await send(served.origin, `/${served.namespace}/other/json/doc`);
    await send(served.origin, `/${served.namespace}/other/json/doc`);
    await counted(served, 1);
    await eventually(async () => expect((await usageOf(served, "other")).requestsLastHour).toBe(2));
  });

  it("are 404 for a project that does not exist", async () => {
    const served = await serve(shop);
    for (const path of ["/usage/no/project", `/usage/${served.namespace}/none`, "/usage/__proto__/constructor"]) {
      const reply = await send(served.adminUrl, path);
      expect([reply.status, reply.code]).toEqual([404, "unknown_project"]);
    }
  });
});

describeServed("the usage page", (serve) => {
  const html = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };

  it("shows the same figures to a browser: of all projects and of one", async () => {
    const served = await serve(shop, { clock: manualClock(noon) });
    await served.send("/json/doc");
    await served.send("/json/none");
    await counted(served, 2);
    for (const path of ["/usage", `/usage/${served.namespace}/shop`]) {
      const page = await send(served.adminUrl, path, html);
      expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(page.text).toMatch(/^<!doctype html>/);
      expect(page.text).toContain(`${served.namespace}/shop`);
      expect(page.text.match(/<tr>/g)?.length).toBeGreaterThanOrEqual(12);
      expect(page.text).toContain("(unknown)");
      expect(page.text).toContain("12:00");
      expect(page.text).not.toMatch(/<script|https?:/);
    }
  });

  it.each([
    [undefined, "application/json"],
    ["*/*", "application/json"],
    ["application/json", "application/json"],
    ["image/png", "application/json"],
    ["text/html;q=0", "application/json"],
    ["text/html;q=0.5, application/json", "application/json"],
    ["application/json;q=0.5, text/html", "text/html"],
    ["text/*", "text/html"],
  ])("is chosen by the weights of Accept, and caches learn that: %s gets %s", async (accept, type) => {
    const served = await serve(shop);
    for (const path of ["/usage", `/usage/${served.namespace}/shop`]) {
      const reply = await send(served.adminUrl, path, accept === undefined ? {} : { headers: { accept } });
      expect(reply.headers["content-type"]).toBe(`${type}; charset=utf-8`);
      expect(reply.headers["vary"]).toBe("Accept");
    }
  });

  it("has a row per five minutes with its requests, a column per status, and the root keys with theirs", async () => {
    const served = await serve(shop, { clock: manualClock(noon) });
    await served.send("/json/doc");
    await served.send("/json/doc/none");
    await served.send("/json/flags");
    const usage = await counted(served, 3);
    const page = (await send(served.adminUrl, "/usage", html)).text;
    const cells = [...page.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = ""]) => row.split(/<[^>]+>/).filter(Boolean));
    const mean = (figures: Figures | undefined) => `${figures?.buckets.at(-1)?.meanMilliseconds?.toFixed(1)} ms`;
    expect(cells).toContainEqual(["From", "Requests", "200", "404", "Mean time"]);
    expect(cells).toContainEqual(["12:00", "3", "2", "1", mean(usage)]);
    expect(cells).toContainEqual(["11:05", "0"]);
    expect(cells).toContainEqual(["doc", "2", "1", mean(usage.rootKeys.doc)]);
    expect(cells).toContainEqual(["flags", "1", mean(usage.rootKeys.flags)]);
    expect(page).toContain("<strong>3</strong> requests in the last hour");
  });

  it("says so when there was no request yet", async () => {
    const served = await serve(shop, { clock: manualClock(noon) });
    expect((await send(served.adminUrl, "/usage", html)).text).toContain(
      "No request to a root key within the last hour",
    );
  });

  it("is not on the public port", async () => {
    const served = await serve(shop);
    for (const path of ["/usage", `/usage/${served.namespace}/shop`, `${served.base}/usage`]) {
      expect((await send(served.origin, path, html)).status).toBe(404);
    }
  });
});
