// The scripts that keep sessions and revocations: what each one answers, and every key that it
// leaves.

import { describe, expect, it } from "vitest";
import type { SessionRecord } from "../../../dataplane/store/ports/sessions.ts";
import { revocations, sessionKeys } from "../../../dataplane/store/redis/keys.ts";
import { createSessionScripts } from "../../../dataplane/store/redis/sessions/session-scripts.ts";
import { useScriptBench } from "../../support/redis/script-bench.ts";

const keys = sessionKeys({ namespace: "ns", name: "shop" });
const bench = useScriptBench();
const scripts = () => createSessionScripts(bench.redisClient);

function sessionOf(id: string, expires = 2_000): SessionRecord {
  return { id, projectUid: "p1", username: "al", credentialRevision: "r", created: 1_000, lastRefresh: 1_000, expires };
}

const hour = 3_600_000;

function put(id: string): Promise<"stored" | "full"> {
  return putAs(sessionOf(id));
}

/** What is stored; that by expiry, which goes by milliseconds, in the order of its members. */
async function contents(): Promise<Record<string, string>> {
  const { [keys.byExpiry]: byExpiry = "", ...others } = await bench.contents();
  return { ...others, [keys.byExpiry]: byExpiry.split(" | ").sort().join(" | ") };
}

/** As if its time had come. */
async function expire(id: string): Promise<void> {
  await bench.client.zadd(keys.byExpiry, "XX", Math.floor(Date.now() / 1_000) - 1, `al\u00000001000\0${id}`);
}

function putAs(
  session: SessionRecord,
  { millisecondsToLive = 60_000, bounds = { maxPerUser: 10, maxPerProject: 1_000 } } = {},
): Promise<"stored" | "full"> {
  return scripts().put({ keys, session, sortable: "0001000", millisecondsToLive, bounds });
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
    await put("s1");
    await put("s2");
    expect(await bench.client.zcard(keys.byExpiry)).toBe(2);
    await expire("s1");
    await put("s3");
    for (const key of [keys.byCreation, keys.byUser, keys.byExpiry]) {
      expect((await bench.client.zrange(key, "0", "-1")).map((member) => member.slice(-2))).toEqual(["s2", "s3"]);
    }
  });
});

describe("put-session, of a user with as many as one may have", () => {
  const bounds = { maxPerUser: 2, maxPerProject: 10_000 };

  it("leaves nothing of the one refreshed least recently, and the others as they are", async () => {
    await put("s1");
    await put("s2");
    await putAs({ ...sessionOf("t1"), username: "al2" });
    await scripts().touch(keys, "s1", { lastRefresh: 1_001, now: 1_001 });
    expect(await putAs(sessionOf("s3"), { bounds })).toBe("stored");
    const {
      [keys.session("s1")]: one,
      [keys.session("s3")]: three,
      [keys.session("t1")]: other,
      ...lists
    } = await contents();
    expect([one, three, other]).not.toContain(undefined);
    expect(lists).toEqual({
      [keys.byCreation]: "0001000␀s1 | 0001000␀s3 | 0001000␀t1",
      [keys.byUser]: "al␀0001000␀s1 | al␀0001000␀s3 | al2␀0001000␀t1",
      [keys.byExpiry]: "al2␀0001000␀t1 | al␀0001000␀s1 | al␀0001000␀s3",
    });
  });

  it("drops entries of sessions that Redis has let go before any other", async () => {
    await put("s1");
    await put("s2");
    await bench.client.del(keys.session("s2"));
    await putAs(sessionOf("s3"), { bounds });
    expect(await scripts().read(keys, "s1")).toEqual(sessionOf("s1"));
    expect(await bench.client.zrange(keys.byUser, "0", "-1")).toEqual(["al\u00000001000\0s1", "al\u00000001000\0s3"]);
  });

  it("compares a thousand, of however many there are", async () => {
    const entries = Array.from({ length: 3_000 }, (_, n) => `al\0${String(n).padStart(7, "0")}\0s${n}`);
    await bench.client.zadd(keys.byUser, ...entries.flatMap((entry) => [0, entry]));
    await bench.client.zadd(keys.byExpiry, ...entries.flatMap((entry) => [4_000_000_000, entry]));
    await bench.client.zadd(keys.byCreation, ...entries.flatMap((entry) => [0, entry.slice(3)]));
    await bench.client.hset(keys.session("s0"), "last_refresh", 1_500);
    expect(await putAs(sessionOf("new"), { bounds })).toBe("stored");
    for (const key of [keys.byCreation, keys.byUser, keys.byExpiry]) expect(await bench.client.zcard(key)).toBe(2_981);
    expect(await bench.client.zscore(keys.byUser, entries[0] ?? "")).toBe("0");
  });
});

describe("put-session, of a project with as many as it may have", () => {
  it("stores nothing and says so, and drops what has expired first", async () => {
    const bounds = { maxPerUser: 10, maxPerProject: 2 };
    await put("s1");
    await put("s2");
    const before = await bench.contents();
    expect(await putAs(sessionOf("s3"), { bounds })).toBe("full");
    expect(await bench.contents()).toEqual(before);
    await expire("s2");
    expect(await putAs(sessionOf("s3"), { bounds })).toBe("stored");
  });
});

describe("the lists of sessions", () => {
  const left = () => Promise.all([keys.byCreation, keys.byUser, keys.byExpiry].map((key) => bench.client.pttl(key)));
  const within = (found: readonly number[], least: number, most: number) => {
    expect(Math.min(...found)).toBeGreaterThan(least);
    expect(Math.max(...found)).toBeLessThanOrEqual(most);
  };

  it("live an hour longer than the session that lives longest", async () => {
    await put("s1");
    within(await left(), hour, hour + 60_000);
    await putAs(sessionOf("s2"), { millisecondsToLive: 3 * hour });
    within(await left(), 4 * hour - 60_000, 4 * hour);
    await putAs(sessionOf("s3"), { millisecondsToLive: 5_000 });
    within(await left(), 4 * hour - 60_000, 4 * hour);
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
    const listed = { id: "s1", username: "al", sortable: "0001000" };
    expect(await scripts().remove(keys, listed)).toBe(true);
    expect(await bench.contents()).toEqual({});
    expect(await scripts().remove(keys, listed)).toBe(false);
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
    await scripts().revoke({ id: "s1", seconds: -100, latest: 0, grace: 200 });
    await scripts().revoke({ id: "s2", seconds: 300, latest: 0, grace: 60 });
    await scripts().revoke({ id: "s2", seconds: 200, latest: 0, grace: 60 });
    const [only, score, ...others] = await bench.client.zrange(revocations.set, "0", "-1", "WITHSCORES");
    expect([only, others]).toEqual(["s2", []]);
    expect(Number(score) - before).toBeGreaterThanOrEqual(300);
    expect(Number(score) - before).toBeLessThan(320);
    expect(await bench.client.xlen(revocations.stream)).toBe(3);
  });

  it("reckons from when the latest token was made, where a clock was ahead", async () => {
    const latest = Number((await bench.client.time())[0]) + 86_400;
    await scripts().revoke({ id: "s1", seconds: 300, latest, grace: 60 });
    expect(await bench.client.zscore(revocations.set, "s1")).toBe(String(latest + 300));
  });

  it("keeps the stream short", async () => {
    const entries = bench.client.pipeline();
    for (let n = 0; n < 10_500; n += 1) entries.xadd(revocations.stream, "*", "session", "old");
    await entries.exec();
    await scripts().revoke({ id: "s1", seconds: 100, latest: 0, grace: 60 });
    expect(await bench.client.xlen(revocations.stream)).toBeLessThanOrEqual(10_200);
  });
});

describe("keys of a wrong type", () => {
  it("fail every script with RedisFault", async () => {
    for (const key of [keys.session("s1"), revocations.set]) await bench.client.set(key, "foreign");
    await expect(put("s1")).rejects.toMatchObject({ name: "RedisFault", code: "WRONGTYPE" });
    await expect(scripts().read(keys, "s1")).rejects.toMatchObject({ name: "RedisFault" });
    await expect(scripts().touch(keys, "s1", { lastRefresh: 1, now: 1 })).rejects.toMatchObject({ name: "RedisFault" });
    await expect(scripts().revoke({ id: "s1", seconds: 1, latest: 0, grace: 60 })).rejects.toMatchObject({
      name: "RedisFault",
    });
    expect(await bench.contents()).toEqual({ [keys.session("s1")]: "foreign", [revocations.set]: "foreign" });
  });
});

describe("purge-sessions", () => {
  it("removes what is of one Project, and what has expired, from every list, in steps that can be begun again", async () => {
    for (let n = 0; n < 205; n += 1) await putAs({ ...sessionOf(`a${n}`), username: `user${n}` }, {});
    await putAs({ ...sessionOf("anew"), projectUid: "p2", username: "user100" }, {});
    await put("expired");
    await bench.client.del(keys.session("expired"));
    const cursor = await scripts().purge({ keys, projectUid: "p1", cursor: "" });
    expect(cursor).toBeDefined();
    expect(await bench.client.zcard(keys.byUser)).toBe(8);
    expect(await scripts().purge({ keys, projectUid: "p1", cursor: cursor ?? "" })).toBeUndefined();
    expect(await scripts().purge({ keys, projectUid: "p1", cursor: "" })).toBeUndefined();
    const { [keys.session("anew")]: anew, ...lists } = await contents();
    expect(anew).toBeDefined();
    expect(lists).toEqual({
      [keys.byCreation]: "0001000␀anew",
      [keys.byUser]: "user100␀0001000␀anew",
      [keys.byExpiry]: "user100␀0001000␀anew",
    });
    await scripts().purge({ keys, projectUid: "p2", cursor: "" });
    expect(await bench.contents()).toEqual({});
  });
});
