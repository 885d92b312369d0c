// Sessions while the store answers reads and takes no writes; how one is ended then,
// sessions.test.ts shows.

import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { createUnfinishedWrites, type SessionRefresh } from "../../../../dataplane/sessions/unfinished-writes.ts";
import { authenticationSetup, refusalOf } from "../../../support/http/authentication.ts";
import { basic, bearer, project, withUser } from "../../../support/http/projects.ts";
import { breakable, sessionStore } from "../../../support/store/session-store.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

const bookshop = project("bookshop", withUser("alice"));

async function setup() {
  const clock = manualClock();
  const store = breakable(await sessionStore(clock));
  const made = await authenticationSetup({ store: store.store, projects: [bookshop], clock });
  return {
    ...made,
    store,
    login: () => made.sessions.login(made.live(), basic("alice"), "192.0.2.7"),
    refresh: (token: string) => made.sessions.refresh(made.live(), bearer(token)),
  };
}

describe("a refresh while the store takes no writes", () => {
  const hour = 3_600_000;

  test("reads that the session stands, and notes the refresh once it does", async () => {
    const { login, refresh, authentication, sessions, live, clock, store } = await setup();
    const opened = await login();
    clock.advance(60_000);
    store.breakWith("refused", "touchSession");
    const { access_token } = await refresh(opened.refresh_token);
    const caller = await authentication.callerOf(live(), bearer(access_token));
    const seen = () => sessions.session(live(), caller, opened.session_id);
    const { created, last_refresh } = await seen();
    expect(last_refresh).toBe(created);
    store.breakWith("none");
    await eventually(async () => expect((await seen()).last_refresh).toBe(created + 60));
  });

  test("refuses that of a session that is gone", async () => {
    const { login, refresh, live, store } = await setup();
    const opened = await login();
    await store.store.purgeSessions(live().config, live().config.uid, "");
    store.breakWith("refused", "touchSession");
    expect((await refusalOf(() => refresh(opened.refresh_token))).code).toBe("invalid_credentials");
  });

  test("goes on for an hour and no longer, and anew once writes were taken", async () => {
    const { login, refresh, clock, store } = await setup();
    const { refresh_token } = await login();
    store.breakWith("refused", "touchSession");
    await refresh(refresh_token);
    clock.advance(hour);
    await refresh(refresh_token);
    clock.advance(1);
    await expect(refresh(refresh_token)).rejects.toThrow(StoreUnavailable);
    store.breakWith("none");
    const touched = store.calls.get("touchSession") ?? 0;
    await eventually(() => expect(store.calls.get("touchSession")).toBeGreaterThan(touched));
    store.breakWith("refused", "touchSession");
    await eventually(() => refresh(refresh_token));
  });

  test("passes on that the session can't be read either", async () => {
    const { login, refresh, store } = await setup();
    const { refresh_token } = await login();
    store.breakWith("refused", "touchSession", "session");
    await expect(refresh(refresh_token)).rejects.toThrow(StoreUnavailable);
  });
});

describe("writes that several servers keep", () => {
  const second = 1_000;

  function queues() {
    const time = manualTime();
    const primaries = new Map<string, string>();
    const silent = new Set<string>();
    const refusing = new Set<string>();
    const taken: string[] = [];
    const primaryOf = ({ name }: { readonly name: string }) => primaries.get(name) ?? name;
    const unfinished = createUnfinishedWrites<SessionRefresh>({
      ...time,
      primaryOf,
      async write({ project: of, id }) {
        if (silent.has(primaryOf(of))) await new Promise(() => undefined);
        if (refusing.has(primaryOf(of))) throw new StoreUnavailable("The test says so");
        taken.push(id);
      },
    });
    const refOf = (name: string) => ({ namespace: "default", name });
    const add = (name: string, id: string) => unfinished.add({ project: refOf(name), id, lastRefresh: 1 });
    const unfinishedFor = (name: string) => unfinished.unfinishedFor(refOf(name));
    return { time, primaries, silent, refusing, taken, unfinished, add, unfinishedFor };
  }

  test("are finished by each that takes them, the oldest first, whatever another one does", async () => {
    const { time, silent, refusing, taken, add } = queues();
    silent.add("a");
    refusing.add("b");
    for (const id of ["1", "2"]) for (const name of ["a", "b", "c"]) add(name, `${name}${id}`);
    await time.advance(second);
    expect(taken).toEqual(["c1", "c2"]);
    add("c", "c3");
    refusing.delete("b");
    await time.advance(second);
    expect([...taken].sort()).toEqual(["b1", "b2", "c1", "c2", "c3"]);
  });

  test("are counted from the first of each, until it has none", async () => {
    const { time, refusing, add, unfinishedFor } = queues();
    refusing.add("a").add("b");
    add("a", "a1");
    await time.advance(10 * second);
    add("b", "b1");
    await time.advance(5 * second);
    expect([unfinishedFor("a"), unfinishedFor("b"), unfinishedFor("c")]).toEqual([15 * second, 5 * second, 0]);
    refusing.delete("a");
    await time.advance(second);
    expect([unfinishedFor("a"), unfinishedFor("b")]).toEqual([0, 6 * second]);
  });

  test("go on with the server that a project has moved to, and their hour with them", async () => {
    const { time, primaries, refusing, taken, add, unfinishedFor } = queues();
    refusing.add("a").add("b");
    add("a", "a1");
    await time.advance(10 * second);
    add("b", "b1");
    primaries.set("a", "b");
    await time.advance(second);
    expect([unfinishedFor("a"), unfinishedFor("b")]).toEqual([11 * second, 11 * second]);
    refusing.delete("b");
    await time.advance(second);
    expect(taken).toEqual(["a1", "b1"]);
  });

  test("are 10,000 at most: whoever has most forgets its oldest", async () => {
    const { time, silent, taken, unfinished, add, unfinishedFor } = queues();
    silent.add("b");
    add("a", "a1");
    await time.advance(second / 2);
    for (let n = 0; n <= 10_000; n += 1) add("b", `b${n}`);
    expect([unfinished.has("b0"), unfinished.has("b1"), unfinished.has("b2")]).toEqual([false, false, true]);
    expect([unfinished.has("a1"), unfinishedFor("a")]).toEqual([true, second / 2]);
    await time.advance(second);
    expect(taken).toEqual(["a1"]);
  });
});
