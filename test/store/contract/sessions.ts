// The promises of SessionStore: records that expire by themselves, lists, and the news of ended sessions.

import { describe, expect, it } from "vitest";
import type { SessionRecord, Store } from "../../../dataplane/store/port.ts";
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
    describeEnded(subject);
  });
}

let made = 0;

function sessionAt(subject: StoreUnderTest, changes: Partial<SessionRecord> = {}): SessionRecord {
  made += 1;
  const created = secondsNow(subject);
  return {
    id: `session-${created}-${made}-${Math.random().toString(16).slice(2)}`,
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
    await one.putSession(project, session);
    expect(await other.session(project, session.id)).toEqual(session);
    expect(await one.session(foreign, session.id)).toBeUndefined();
    expect(await one.sessions(foreign, { limit: 10 })).toEqual([]);
    expect(await one.touchSession(foreign, session.id, 1)).toBe(false);
    expect(await one.endSession(foreign, session.id, session.expires)).toBe(false);
    expect(await one.session(project, "no such session")).toBeUndefined();
  });

  it("remembers the last refresh, and not that of a session that is gone", async () => {
    const { store } = subject();
    const project = freshProject();
    const session = sessionAt(subject());
    expect(await store.touchSession(project, session.id, session.created + 5)).toBe(false);
    expect(await store.session(project, session.id)).toBeUndefined();
    await store.putSession(project, session);
    expect(await store.touchSession(project, session.id, session.created + 5)).toBe(true);
    expect(await store.session(project, session.id)).toEqual({ ...session, lastRefresh: session.created + 5 });
    expect(await store.sessions(project, { limit: 10 })).toEqual([{ ...session, lastRefresh: session.created + 5 }]);
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
      if (session !== undefined) await store.putSession(project, session);
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
    await store.putSession(project, session);
    await store.putSession(project, other);
    expect(await store.endSession(project, session.id, secondsNow(subject()) + 300)).toBe(true);
    expect(await store.endSession(project, session.id, secondsNow(subject()) + 300)).toBe(false);
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
      sessionAt(subject(), { expires: now + 2 }),
      sessionAt(subject(), { created: now - 1, lastRefresh: now - 1 }),
    ];
    await store.putSession(project, short);
    await store.putSession(project, long);
    expect(await store.session(project, short.id)).toEqual(short);
    expect(await store.sessions(project, { limit: 10 })).toEqual([short, long]);
    await pass(subject(), 2_000);
    await eventually(async () => expect(await store.session(project, short.id)).toBeUndefined());
    await eventually(async () => expect(await store.sessions(project, { limit: 10 })).toEqual([long]));
    expect(await store.sessions(project, { username: "alice", limit: 1 })).toEqual([long]);
    expect(await store.touchSession(project, short.id, now)).toBe(false);
    expect(await store.endSession(project, short.id, now + 300)).toBe(false);
  });

  it("does not let a refresh prolong a session", async () => {
    const { store } = subject();
    const project = freshProject();
    const session = sessionAt(subject(), { expires: secondsNow(subject()) + 2 });
    await store.putSession(project, session);
    await store.touchSession(project, session.id, session.created + 1);
    await pass(subject(), 2_000);
    await eventually(async () => expect(await store.session(project, session.id)).toBeUndefined());
  });
}

function describeEnded(subject: Subject): void {
  it("tells every follower on every replica of an ended session", async () => {
    const stores = await twoReplicas(subject());
    const project = freshProject();
    const followers = await Promise.all([...stores, stores[0]].map(follow));
    const session = sessionAt(subject());
    const began = performance.now();
    const tokensExpire = secondsNow(subject()) + 300;
    await stores[0].putSession(project, session);
    await stores[1].endSession(project, session.id, tokensExpire);
    for (const { heard } of followers) await eventually(() => expectAbout(heard.get(session.id), tokensExpire, began));
    for (const { stop } of followers) await stop();
  });

  it("tells a new follower of sessions that ended before, while their tokens could live", async () => {
    const stores = await twoReplicas(subject());
    const project = freshProject();
    const began = performance.now();
    const now = secondsNow(subject());
    const sessions = [now + 1, now + 300].map((tokensExpire) => ({ session: sessionAt(subject()), tokensExpire }));
    for (const { session, tokensExpire } of sessions) {
      await stores[0].putSession(project, session);
      await stores[0].endSession(project, session.id, tokensExpire);
    }
    await pass(subject(), 2_000);
    const { heard, stop } = await follow(stores[1]);
    await eventually(() => expectAbout(heard.get(sessions[1]?.session.id ?? ""), now + 300, began));
    expect(heard.has(sessions[0]?.session.id ?? "")).toBe(false);
    await stop();
  });

  it("is silent about live sessions, and after a follower has stopped", async () => {
    const { store } = subject();
    const project = freshProject();
    const [stopped, following] = [await follow(store), await follow(store)];
    const [live, first, second] = [sessionAt(subject()), sessionAt(subject()), sessionAt(subject())];
    for (const session of [live, first, second]) await store.putSession(project, session);
    await store.endSession(project, first.id, secondsNow(subject()) + 300);
    await eventually(() => expect(stopped.heard.has(first.id)).toBe(true));
    await stopped.stop();
    await store.endSession(project, second.id, secondsNow(subject()) + 300);
    await eventually(() => expect(following.heard.has(second.id)).toBe(true));
    expect(stopped.heard.has(second.id)).toBe(false);
    expect(following.heard.has(live.id)).toBe(false);
    await following.stop();
  });
}

/** The store may count by another clock than the caller's; what the calls took since `began` is theirs as well. */
function expectAbout(found: number | undefined, seconds: number, began: number): void {
  const took = (performance.now() - began) / 1_000;
  expect(Math.abs((found ?? 0) - seconds)).toBeLessThanOrEqual(2 + took);
}

async function follow(store: Store): Promise<{ heard: ReadonlyMap<string, number>; stop: () => Promise<void> }> {
  const heard = new Map<string, number>();
  const following = await store.followEndedSessions((id, tokensExpire) => heard.set(id, tokensExpire));
  return { heard, stop: () => following.stop() };
}
