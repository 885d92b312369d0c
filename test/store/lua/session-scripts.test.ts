// The scripts that keep sessions and revocations: what each one answers, and every key that it leaves.

import { describe, expect, it } from "vitest";
import type { SessionRecord } from "../../../dataplane/store/port.ts";
import { revocations, sessionKeys } from "../../../dataplane/store/redis/keys.ts";
import { createSessionScripts } from "../../../dataplane/store/redis/session-scripts.ts";
import { useScriptBench } from "../../support/redis/script-bench.ts";

const keys = sessionKeys({ namespace: "ns", name: "shop" });
const bench = useScriptBench();
const scripts = () => createSessionScripts(bench.gateway);

function sessionOf(id: string, expires = 2_000): SessionRecord {
  return { id, username: "al", credentialRevision: "r", created: 1_000, lastRefresh: 1_000, expires };
}

function put(id: string, expires = 2_000, now = 1_000): Promise<void> {
  const session = sessionOf(id, expires);
  return scripts().put({ keys, session, sortable: "0001000", now, millisecondsToLive: 60_000 });
}

describe("put-session", () => {
  it("stores the session with a time to live, and its place in each list", async () => {
    await put("s1");
    expect(await scripts().read(keys, "s1")).toEqual(sessionOf("s1"));
    const left = await bench.client.pttl(keys.session("s1"));
    expect(left).toBeGreaterThan(50_000);
    expect(left).toBeLessThanOrEqual(60_000);
    const { [keys.session("s1")]: _, ...lists } = await bench.contents();
    expect(lists).toEqual({
      [keys.byCreation]: "0001000␀s1",
      [keys.byUser]: "al␀0001000␀s1",
      [keys.byExpiry]: "al␀0001000␀s1",
    });
  });

  it("takes those out of the lists that have expired", async () => {
    await put("s1", 1_500);
    await put("s2", 2_000, 1_499);
    expect(await bench.client.zcard(keys.byExpiry)).toBe(2);
    await put("s3", 3_000, 1_500);
    for (const key of [keys.byCreation, keys.byUser, keys.byExpiry]) {
      expect((await bench.client.zrange(key, "0", "-1")).map((member) => member.slice(-2))).toEqual(["s2", "s3"]);
    }
  });
});

describe("touch-session", () => {
  it("notes the refresh of a live session and leaves its time to live", async () => {
    await put("s1");
    await bench.client.pexpire(keys.session("s1"), 5_000);
    expect(await scripts().touch(keys, "s1", { lastRefresh: 1_234, now: 1_999 })).toBe(true);
    expect(await scripts().read(keys, "s1")).toEqual({ ...sessionOf("s1"), lastRefresh: 1_234 });
    expect(await bench.client.pttl(keys.session("s1"))).toBeLessThanOrEqual(5_000);
  });

  it("creates nothing for one that is gone or has expired", async () => {
    expect(await scripts().touch(keys, "s1", { lastRefresh: 1, now: 1 })).toBe(false);
    expect(await bench.contents()).toEqual({});
    await put("s1");
    expect(await scripts().touch(keys, "s1", { lastRefresh: 1_234, now: 2_000 })).toBe(false);
    expect(await scripts().read(keys, "s1")).toEqual(sessionOf("s1"));
  });
});

describe("remove-session", () => {
  it("leaves nothing of a session, and says whether there was one", async () => {
    await put("s1");
    const place = { id: "s1", username: "al", sortable: "0001000" };
    expect(await scripts().remove(keys, place)).toBe(true);
    expect(await bench.contents()).toEqual({});
    expect(await scripts().remove(keys, place)).toBe(false);
  });
});

describe("list-sessions", () => {
  it("passes over sessions that are gone or have expired, in bounded steps", async () => {
    for (const n of [1, 2, 3]) await put(`s${n}`);
    await bench.client.del(keys.session("s2"));
    await bench.client.hset(keys.session("s3"), "expires", 1_000);
    const gone = Array.from({ length: 600 }, (_, n) => [0, `0002000\0gone${n}`]).flat();
    await bench.client.zadd(keys.byCreation, ...gone);
    const call = { keys, set: keys.byCreation, lower: "-", upper: "+", limit: 5, now: 1_000 };
    const first = await scripts().list(call);
    expect(first.sessions).toEqual([]);
    expect(await scripts().list({ ...call, upper: first.upper ?? "" })).toEqual({
      sessions: [sessionOf("s1")],
      upper: undefined,
    });
  });

  it("stops when it has as many as asked", async () => {
    for (const n of [1, 2, 3]) await put(`s${n}`);
    const call = { keys, set: keys.byCreation, lower: "-", upper: "+", limit: 2, now: 1_000 };
    expect(await scripts().list(call)).toEqual({ sessions: [sessionOf("s3"), sessionOf("s2")], upper: undefined });
  });
});

describe("revoke-session", () => {
  it("tells the stream and the sorted set, and forgets what no token can live for", async () => {
    const before = Number((await bench.client.time())[0]);
    await scripts().revoke({ id: "s1", seconds: -100, grace: 200 });
    await scripts().revoke({ id: "s2", seconds: 300, grace: 60 });
    await scripts().revoke({ id: "s2", seconds: 200, grace: 60 });
    const [only, score, ...others] = await bench.client.zrange(revocations.set, "0", "-1", "WITHSCORES");
    expect([only, others]).toEqual(["s2", []]);
    expect(Number(score) - before).toBeGreaterThanOrEqual(300);
    expect(Number(score) - before).toBeLessThan(320);
    expect(await bench.client.xlen(revocations.stream)).toBe(3);
  });

  it("keeps the stream short", async () => {
    const entries = bench.client.pipeline();
    for (let n = 0; n < 10_500; n += 1) entries.xadd(revocations.stream, "*", "session", "old");
    await entries.exec();
    await scripts().revoke({ id: "s1", seconds: 100, grace: 60 });
    expect(await bench.client.xlen(revocations.stream)).toBeLessThanOrEqual(10_200);
  });
});

describe("keys of a wrong type", () => {
  it("fail every script with RedisFault", async () => {
    for (const key of [keys.session("s1"), revocations.set]) await bench.client.set(key, "foreign");
    await expect(put("s1")).rejects.toMatchObject({ name: "RedisFault", code: "WRONGTYPE" });
    await expect(scripts().read(keys, "s1")).rejects.toMatchObject({ name: "RedisFault" });
    await expect(scripts().touch(keys, "s1", { lastRefresh: 1, now: 1 })).rejects.toMatchObject({ name: "RedisFault" });
    await expect(scripts().revoke({ id: "s1", seconds: 1, grace: 60 })).rejects.toMatchObject({
      name: "RedisFault",
    });
    expect(await bench.contents()).toEqual({ [keys.session("s1")]: "foreign", [revocations.set]: "foreign" });
  });
});
