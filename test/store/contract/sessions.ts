// The promises of sessions: records that expire by themselves, lists, and the news of ended
// sessions.

import { describe, expect, it } from "vitest";
import type { ProjectRef, SessionBounds } from "../../../core/config/types.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { SessionRecord } from "../../../dataplane/store/ports/sessions.ts";
import { eventually } from "../../support/time/eventually.ts";
import {
  freshProject,
  type MakeStore,
  pass,
  type StoreUnderTest,
  secondsNow,
  twoReplicas,
  useStore,
} from "./fixture.ts";

type Subject = () => StoreUnderTest;

export function describeSessionStore(name: string, make: MakeStore): void {
  describe(`${name}: sessions`, () => {
    const subject = useStore(make);
    describeRecords(subject);
    describeExpiry(subject);
    describeBounds(subject);
    describePurges(subject);
    describeEnded(subject);
  });
}

const ample = { maxPerUser: 100, maxPerProject: 1_000 };
let made = 0;

function sessionAt(subject: StoreUnderTest, changes: Partial<SessionRecord> = {}): SessionRecord {
  made += 1;
  const created = secondsNow(subject);
  return {
    id: `session-${created}-${made}-${Math.random().toString(16).slice(2)}`,
    projectUid: "uid 1",
    username: "alice",
    credentialRevision: "revision 1",
    created,
    lastRefresh: created,
    expires: created + 3_600,
    ...changes,
  };
}

function describeRecords(subject: Subject): void {
  it("returns a session as it was put, and only in its project", async () => {
    const [one, other] = await twoReplicas(subject());
    const [project, foreign] = [freshProject(), freshProject()];
    const session = sessionAt(subject(), { username: 'a:b "c"\\d\u0001 é😀', credentialRevision: "__proto__" });
    await one.putSession(project, session, ample);
    expect(await other.session(project, session.id)).toEqual(session);
    expect(await one.session(foreign, session.id)).toBeUndefined();
    expect(await one.sessions(foreign, { limit: 10 })).toEqual([]);
    expect(await one.touchSession(foreign, session.id, 1)).toBe(false);
    expect(await one.endSession(foreign, session.id, 300)).toBe(false);
    expect(await one.session(project, "no such session")).toBeUndefined();
  });

  it("names the same keeper of a project's sessions on every replica", async () => {
    const [one, other] = await twoReplicas(subject());
    for (const project of Array.from({ length: 20 }, freshProject)) {
      expect(other.sessionPrimary(project)).toBe(one.sessionPrimary(project));
    }
  });

  it("remembers the last refresh, and not that of a session that is gone", async () => {
    const { store } = subject();
    const project = freshProject();
    const session = sessionAt(subject());
    expect(await store.touchSession(project, session.id, session.created + 5)).toBe(false);
    expect(await store.session(project, session.id)).toBeUndefined();
    await store.putSession(project, session, ample);
    expect(await store.touchSession(project, session.id, session.created + 5)).toBe(true);
    expect(await store.session(project, session.id)).toEqual({ ...session, lastRefresh: session.created + 5 });
    expect(await store.sessions(project, { limit: 10 })).toEqual([{ ...session, lastRefresh: session.created + 5 }]);
    // By a replica whose clock is behind.
    expect(await store.touchSession(project, session.id, session.created + 3)).toBe(true);
    expect(await store.session(project, session.id)).toMatchObject({ lastRefresh: session.created + 5 });
  });

  it("lists sessions newest first, by user, and at most as many as asked", async () => {
    const { store } = subject();
    const project = freshProject();
    const start = secondsNow(subject()) - 100;
    const sessions = Array.from({ length: 12 }, (_, n) =>
      sessionAt(subject(), {
        username: ["alice", "ali", "alice:1"][n % 3] ?? "",
        created: start + n,
        lastRefresh: start + n,
      }),
    );
    for (const at of [3, 11, 0, 7, 5, 1, 10, 2, 9, 4, 8, 6]) {
      const session = sessions[at];
      if (session !== undefined) await store.putSession(project, session, ample);
    }
    const newest = [...sessions].reverse();
    expect(await store.sessions(project, { limit: 100 })).toEqual(newest);
    expect(await store.sessions(project, { limit: 5 })).toEqual(newest.slice(0, 5));
    for (const username of ["alice", "ali", "alice:1"]) {
      const own = newest.filter((session) => session.username === username);
      expect(own).toHaveLength(4);
      expect(await store.sessions(project, { username, limit: 100 })).toEqual(own);
      expect(await store.sessions(project, { username, limit: 2 })).toEqual(own.slice(0, 2));
    }
    expect(await store.sessions(project, { username: "bob", limit: 10 })).toEqual([]);
  });

  it("ends a session once, for reads, lists and refreshes", async () => {
    const { store } = subject();
    const project = freshProject();
    const [session, other] = [sessionAt(subject()), sessionAt(subject())];
    await store.putSession(project, session, ample);
    await store.putSession(project, other, ample);
    expect(await store.endSession(project, session.id, 300)).toBe(true);
    expect(await store.endSession(project, session.id, 300)).toBe(false);
    expect(await store.session(project, session.id)).toBeUndefined();
    expect(await store.touchSession(project, session.id, session.created + 5)).toBe(false);
    expect(await store.session(project, session.id)).toBeUndefined();
    expect(await store.sessions(project, { limit: 10 })).toEqual([other]);
    expect(await store.sessions(project, { username: "alice", limit: 10 })).toEqual([other]);
  });
}

function describeExpiry(subject: Subject): void {
  it("lets a session go when its refresh token expires, and keeps the others", async () => {
    const { store } = subject();
    const project = freshProject();
    const now = secondsNow(subject());
    const [short, long] = [
      sessionAt(subject(), { expires: now + 5 }),
      sessionAt(subject(), { created: now - 1, lastRefresh: now - 1 }),
    ];
    await store.putSession(project, short, ample);
    await store.putSession(project, long, ample);
    expect(await store.session(project, short.id)).toEqual(short);
    expect(await store.sessions(project, { limit: 10 })).toEqual([short, long]);
    await pass(subject(), 5_000);
    await eventually(async () => expect(await store.session(project, short.id)).toBeUndefined());
    await eventually(async () => expect(await store.sessions(project, { limit: 10 })).toEqual([long]));
    expect(await store.sessions(project, { username: "alice", limit: 1 })).toEqual([long]);
    expect(await store.touchSession(project, short.id, now)).toBe(false);
    expect(await store.endSession(project, short.id, 300)).toBe(false);
  });

  it("does not let a refresh prolong a session", async () => {
    const { store } = subject();
    const project = freshProject();
    const session = sessionAt(subject(), { expires: secondsNow(subject()) + 2 });
    await store.putSession(project, session, ample);
    await store.touchSession(project, session.id, session.created + 1);
    await pass(subject(), 2_000);
    await eventually(async () => expect(await store.session(project, session.id)).toBeUndefined());
  });
}

function describePurges(subject: Subject): void {
  const purge = async (project: ProjectRef, projectUid: string) => {
    let cursor: string | undefined = "";
    while (cursor !== undefined) cursor = await subject().store.purgeSessions(project, projectUid, cursor);
  };

  it("purges the sessions of one Project, and leaves those of the next one of its name, and of others", async () => {
    const { store } = subject();
    const [project, other] = [freshProject(), freshProject()];
    const most = { maxPerUser: 2, maxPerProject: 500 };
    const of = (projectUid: string, username: string) => sessionAt(subject(), { projectUid, username });
    for (let n = 0; n < 450; n += 1) await store.putSession(project, of("gone", `user${n}`), most);
    const kept = [of("anew", "user7"), of("anew", "zoe"), of("", "user8")];
    for (const session of kept) await store.putSession(project, session, most);
    const elsewhere = of("gone", "user7");
    await store.putSession(other, elsewhere, most);
    await purge(project, "gone");
    await purge(project, "gone");
    expect(new Set(await store.sessions(project, { limit: 500 }))).toEqual(new Set(kept));
    expect(await store.sessions(other, { limit: 9 })).toEqual([elsewhere]);
    // Neither bound counts what has gone.
    for (const username of ["user7", "user8"]) {
      expect(await store.putSession(project, of("anew", username), { maxPerUser: 2, maxPerProject: 5 })).toBe("stored");
    }
    for (const { id } of kept) expect(await store.session(project, id)).toBeDefined();
    expect(await store.putSession(project, of("anew", "user9"), { maxPerUser: 2, maxPerProject: 5 })).toBe("full");
  });
}

function describeBounds(subject: Subject): void {
  const put = async (project: ProjectRef, most: SessionBounds, changes: Partial<SessionRecord>) => {
    const session = sessionAt(subject(), changes);
    expect(await subject().store.putSession(project, session, most)).toBe("stored");
    return session;
  };
  const idsOf = async (project: ProjectRef, username?: string) => {
    const found = await subject().store.sessions(project, {
      limit: 3_000,
      ...(username !== undefined && { username }),
    });
    return found.map(({ id }) => id);
  };

  it("gives up a user's session that was refreshed least recently for one too many, without ending it for its tokens", async () => {
    const { store } = subject();
    const [project, most] = [freshProject(), { maxPerUser: 3, maxPerProject: 1_000 }];
    const start = secondsNow(subject()) - 100;
    const at = (n: number) => ({ created: start + n, lastRefresh: start + n });
    const { followed, stop } = await follow(store);
    const [one, two, three] = [
      await put(project, most, at(1)),
      await put(project, most, at(2)),
      await put(project, most, at(3)),
    ];
    const others = [
      await put(project, most, { username: "alic", ...at(0) }),
      await put(project, most, { username: "bob", ...at(0) }),
    ];
    expect(await store.touchSession(project, one.id, start + 50)).toBe(true);
    const four = await put(project, most, at(60));
    expect(await idsOf(project, "alice")).toEqual([four.id, three.id, one.id]);
    expect(await store.session(project, two.id)).toBeUndefined();
    expect(await store.touchSession(project, two.id, start + 70)).toBe(false);
    const five = await put(project, most, at(80));
    expect(await idsOf(project, "alice")).toEqual([five.id, four.id, one.id]);
    for (const { id, username } of others) expect(await idsOf(project, username)).toEqual([id]);
    expect(await idsOf(project)).toHaveLength(5);
    // Written after whatever the calls before may have written.
    await store.endSession(project, five.id, 300);
    await eventually(() => expect(followed.has(five.id)).toBe(true));
    expect([two.id, three.id].filter((id) => followed.has(id))).toEqual([]);
    await stop();
  });

  it("takes the oldest of those that were refreshed at the same time", async () => {
    const [project, most] = [freshProject(), { maxPerUser: 2, maxPerProject: 1_000 }];
    const lastRefresh = secondsNow(subject());
    const [young, old, next] = [lastRefresh - 3, lastRefresh - 5, lastRefresh - 4].map((created) => ({
      created,
      lastRefresh,
    }));
    const kept = await put(project, most, young ?? {});
    await put(project, most, old ?? {});
    const last = await put(project, most, next ?? {});
    expect(await idsOf(project)).toEqual([kept.id, last.id]);
  });

  it("comes down to a smaller bound a few sessions at a time", async () => {
    const project = freshProject();
    const start = secondsNow(subject()) - 100;
    const at = (n: number) => ({ created: start + n, lastRefresh: start + n });
    for (let n = 0; n < 50; n += 1) await put(project, ample, at(n));
    const left: number[] = [];
    for (let n = 50; n < 54; n += 1) {
      await put(project, { ...ample, maxPerUser: 5 }, at(n));
      left.push((await idsOf(project)).length);
    }
    expect(left).toEqual([31, 12, 5, 5]);
    expect(await subject().store.sessions(project, { limit: 9 })).toMatchObject([53, 52, 51, 50, 49].map(at));
  });

  it("stores none that has expired already, which ends no other one of its user", async () => {
    const { store } = subject();
    const [project, most] = [freshProject(), { maxPerUser: 1, maxPerProject: 1_000 }];
    const live = await put(project, most, {});
    const expired = sessionAt(subject(), { expires: secondsNow(subject()) });
    expect(await store.putSession(project, expired, most)).toBe("stored");
    expect(await idsOf(project)).toEqual([live.id]);
  });

  it("stores none beyond the project's bound, and ends none for it", async () => {
    const { store } = subject();
    const [project, most] = [freshProject(), { maxPerUser: 2, maxPerProject: 3 }];
    const start = secondsNow(subject()) - 100;
    const own = [await put(project, most, { created: start }), await put(project, most, { created: start + 1 })];
    const other = await put(project, most, { created: start + 2, username: "bob" });
    for (const username of ["alice", "bob", "carol"]) {
      const refused = sessionAt(subject(), { username });
      expect(await store.putSession(project, refused, most)).toBe("full");
      expect(await store.session(project, refused.id)).toBeUndefined();
    }
    expect(await idsOf(project)).toEqual([other.id, own[1]?.id, own[0]?.id]);
    await put(freshProject(), most, {});
    await store.endSession(project, other.id, 300);
    await put(project, most, { username: "carol" });
  });

  it("counts no session that has expired", async () => {
    const [project, most] = [freshProject(), { maxPerUser: 2, maxPerProject: 2 }];
    const now = secondsNow(subject());
    const long = await put(project, most, { created: now - 9, lastRefresh: now - 9 });
    const short = await put(project, most, { created: now - 8, expires: now + 2 });
    await pass(subject(), 2_000);
    await eventually(async () => expect(await subject().store.session(project, short.id)).toBeUndefined());
    const next = await put(project, most, { created: now });
    expect(await idsOf(project)).toEqual([next.id, long.id]);
  });

  it("holds its bounds among logins at once", async () => {
    const [one, other] = await twoReplicas(subject());
    const [project, most] = [freshProject(), { maxPerUser: 3, maxPerProject: 5 }];
    const logins = Array.from({ length: 20 }, (_, n) => {
      const session = sessionAt(subject(), { username: n % 2 === 0 ? "alice" : "bob" });
      return (n % 3 === 0 ? one : other).putSession(project, session, most);
    });
    expect(new Set(await Promise.all(logins))).toEqual(new Set(["stored", "full"]));
    expect(await idsOf(project)).toHaveLength(5);
    for (const username of ["alice", "bob"]) expect((await idsOf(project, username)).length).toBeLessThanOrEqual(3);
  });
}

function describeEnded(subject: Subject): void {
  it("tells every follower on every replica of an ended session", async () => {
    const stores = await twoReplicas(subject());
    const project = freshProject();
    const followers = await Promise.all([...stores, stores[0]].map(follow));
    const session = sessionAt(subject());
    const began = performance.now();
    await stores[0].putSession(project, session, ample);
    await stores[1].endSession(project, session.id, 300);
    for (const { followed } of followers) await eventually(() => expectAbout(followed.get(session.id), 300, began));
    for (const { stop } of followers) await stop();
  });

  it("tells a new follower of sessions that ended before, while their tokens could live", async () => {
    const stores = await twoReplicas(subject());
    const project = freshProject();
    const began = performance.now();
    const sessions = [1, 300].map((tokenLifetimeSeconds) => ({ session: sessionAt(subject()), tokenLifetimeSeconds }));
    for (const { session, tokenLifetimeSeconds } of sessions) {
      await stores[0].putSession(project, session, ample);
      await stores[0].endSession(project, session.id, tokenLifetimeSeconds);
    }
    await pass(subject(), 2_000);
    const { followed, stop } = await follow(stores[1]);
    await eventually(() => expectAbout(followed.get(sessions[1]?.session.id ?? ""), 300, began));
    expect(followed.has(sessions[0]?.session.id ?? "")).toBe(false);
    await stop();
  });

  it("is silent about live sessions, and after a follower has stopped", async () => {
    const { store } = subject();
    const project = freshProject();
    const [stopped, following] = [await follow(store), await follow(store)];
    const [live, first, second] = [sessionAt(subject()), sessionAt(subject()), sessionAt(subject())];
    for (const session of [live, first, second]) await store.putSession(project, session, ample);
    await store.endSession(project, first.id, 300);
    await eventually(() => expect(stopped.followed.has(first.id)).toBe(true));
    await stopped.stop();
    await store.endSession(project, second.id, 300);
    await eventually(() => expect(following.followed.has(second.id)).toBe(true));
    expect(stopped.followed.has(second.id)).toBe(false);
    expect(following.followed.has(live.id)).toBe(false);
    await following.stop();
  });
}

/**
 * Seconds of the store's clock, which are whole; what the calls took since `began` is theirs as
 * well.
 */
function expectAbout(found: number | undefined, seconds: number, began: number): void {
  const took = (performance.now() - began) / 1_000;
  expect(Math.abs((found ?? 0) - seconds)).toBeLessThanOrEqual(2 + took);
}

async function follow(store: Store): Promise<{ followed: ReadonlyMap<string, number>; stop: () => Promise<void> }> {
  const followed = new Map<string, number>();
  const following = await store.followEndedSessions((id, tokenLifetimeSeconds) =>
    followed.set(id, tokenLifetimeSeconds),
  );
  return { followed, stop: () => following.stop() };
}
