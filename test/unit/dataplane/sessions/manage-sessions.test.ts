import { beforeEach, describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { anonymous, type Caller } from "../../../../dataplane/authenticate/caller.ts";
import type { LoginResult } from "../../../../dataplane/sessions/open-session.ts";
import { type AuthenticationSetup, authenticationSetup, refusalOf } from "../../../support/http/authentication.ts";
import {
  apikey,
  basic,
  bearer,
  changed,
  inNamespace,
  project,
  withAuthenticationDisabled,
  withKey,
  withoutUser,
  withSessions,
  withUser,
} from "../../../support/http/projects.ts";
import { type BreakableStore, breakable, sessionStore } from "../../../support/store/session-store.ts";
import { type ManualClock, manualClock } from "../../../support/time/manual-clock.ts";

const bookshop = project(
  "bookshop",
  withUser("alice"),
  withUser("bob", { access: "Read" }),
  withUser("root", { role: "Administrators" }),
  withUser("auditor", { role: "Administrators", access: "Read" }),
  withKey("ops", { role: "Administrators" }),
  withKey("watcher", { role: "Administrators", access: "Read" }),
  withKey("alice", { role: "Users" }),
);
const twin = changed(bookshop, inNamespace("other"));
const address = "192.0.2.7";

let clock: ManualClock;
let store: BreakableStore;
let setup: AuthenticationSetup;

beforeEach(async () => {
  clock = manualClock();
  store = breakable(await sessionStore(clock));
  setup = await authenticationSetup({ store: store.store, projects: [bookshop, twin], clock });
});

const login = (username: string): Promise<LoginResult> => setup.sessions.login(setup.live(), basic(username), address);
const callerOf = async ({ access_token }: LoginResult): Promise<Caller> =>
  await setup.authentication.callerOf(setup.live(), bearer(access_token));
const key = async (name: string): Promise<Caller> => await setup.authentication.callerOf(setup.live(), apikey(name));
const list = async (caller: Caller): Promise<readonly string[]> =>
  (await setup.sessions.sessions(setup.live(), caller)).map(({ id }) => id).sort();
const see = (caller: Caller, { session_id }: LoginResult) => setup.sessions.session(setup.live(), caller, session_id);
const end = (caller: Caller, { session_id }: LoginResult) =>
  setup.sessions.endSession(setup.live(), caller, session_id);
const works = async ({ access_token }: LoginResult): Promise<boolean> => {
  try {
    return (await setup.authentication.callerOf(setup.live(), bearer(access_token))).kind === "user";
  } catch {
    return false;
  }
};
const ids = (...logins: readonly LoginResult[]): readonly string[] => logins.map(({ session_id }) => session_id).sort();

describe("the sessions of a project", () => {
  test("show user, live role and access, when they were opened and last refreshed, and no token", async () => {
    const opened = await login("alice");
    const created = clock.now() / 1000;
    clock.advance(60_000);
    await setup.sessions.refresh(setup.live(), bearer(opened.refresh_token));
    setup.memory.put(changed(bookshop, withUser("alice", { role: "Administrators" })));
    expect(await see(await key("ops"), opened)).toEqual({
      id: opened.session_id,
      user: "alice",
      role: "Administrators",
      access: "Write",
      created,
      last_refresh: created + 60,
    });
  });

  test("are all seen by Administrators, users and keys, Read or Write", async () => {
    const [alice, bob, root, auditor] = [
      await login("alice"),
      await login("bob"),
      await login("root"),
      await login("auditor"),
    ];
    const all = ids(alice, bob, root, auditor);
    for (const caller of [await callerOf(root), await callerOf(auditor), await key("ops"), await key("watcher")]) {
      expect(await list(caller)).toEqual(all);
      expect(await see(caller, bob)).toMatchObject({ user: "bob" });
    }
  });

  test("are seen by users when they are their own, newest first", async () => {
    const [first, bob] = [await login("alice"), await login("bob")];
    clock.advance(1000);
    const second = await login("alice");
    const views = await setup.sessions.sessions(setup.live(), await callerOf(first));
    expect(views.map(({ id }) => id)).toEqual([second.session_id, first.session_id]);
    expect(await see(await callerOf(first), second)).toMatchObject({ user: "alice" });
    expect((await refusalOf(async () => see(await callerOf(first), bob))).code).toBe("not_found");
    expect(await list(await callerOf(bob))).toEqual(ids(bob));
  });

  test("are not seen by a key of role Users, not even those of a user of its name", async () => {
    const alice = await login("alice");
    expect(await list(await key("alice"))).toEqual([]);
    expect((await refusalOf(async () => see(await key("alice"), alice))).code).toBe("not_found");
    expect((await refusalOf(async () => end(await key("alice"), alice))).code).toBe("not_found");
    expect(await works(alice)).toBe(true);
  });

  test("need a caller, also where authentication is disabled", async () => {
    const alice = await login("alice");
    setup.memory.put(changed(bookshop, withAuthenticationDisabled()));
    for (const ask of [() => list(anonymous), () => see(anonymous, alice), () => end(anonymous, alice)]) {
      const problem = await refusalOf(ask);
      expect(problem.code).toBe("authentication_required");
      expect(problem.headers["WWW-Authenticate"]).toBe(
        'Bearer realm="default/bookshop", ApiKey realm="default/bookshop"',
      );
    }
  });

  test("are those of one project, whatever another of the same name has", async () => {
    const alice = await login("alice");
    const found = setup.memory.directory.project({ namespace: "other", name: "bookshop" });
    if (found instanceof Promise || found.outcome !== "found") throw new Error("The other project is not live");
    const ops = await setup.authentication.callerOf(found.value, apikey("ops"));
    expect(await setup.sessions.sessions(found.value, ops)).toEqual([]);
    const refused = [
      () => setup.sessions.session(found.value, ops, alice.session_id),
      () => setup.sessions.endSession(found.value, ops, alice.session_id),
    ];
    for (const ask of refused) expect((await refusalOf(ask)).code).toBe("not_found");
    expect(await works(alice)).toBe(true);
  });

  test("leave out those whose user is gone or has another password, and those that expired", async () => {
    const [alice, bob, root] = [await login("alice"), await login("bob"), await login("root")];
    setup.memory.put(changed(bookshop, withoutUser("alice"), withUser("bob", { password: "another" })));
    expect(await list(await key("ops"))).toEqual(ids(root));
    for (const gone of [alice, bob]) {
      expect((await refusalOf(async () => see(await key("ops"), gone))).code).toBe("not_found");
      expect((await refusalOf(async () => end(await key("ops"), gone))).code).toBe("not_found");
    }
    clock.advance(72 * 3_600_000);
    expect(await list(await key("ops"))).toEqual([]);
  });

  test.each(["", "unknown", "__proto__", "../x", "x".repeat(10_000)])("have none named %j", async (id) => {
    const ops = await key("ops");
    expect((await refusalOf(() => setup.sessions.session(setup.live(), ops, id))).code).toBe("not_found");
    expect((await refusalOf(() => setup.sessions.endSession(setup.live(), ops, id))).code).toBe("not_found");
  });
});

describe("ending a session", () => {
  test("makes its access tokens void at once, used or not, and its refresh token, and leaves others alone", async () => {
    const [one, other] = [await login("alice"), await login("alice")];
    const { access_token } = await setup.sessions.refresh(setup.live(), bearer(one.refresh_token));
    await end(await callerOf(one), one);
    expect(await works(one)).toBe(false);
    expect(await works({ ...one, access_token })).toBe(false);
    expect((await refusalOf(() => setup.sessions.refresh(setup.live(), bearer(one.refresh_token)))).code).toBe(
      "invalid_credentials",
    );
    expect(await works(other)).toBe(true);
    expect(await list(await key("ops"))).toEqual(ids(other));
  });

  test("is for the user themselves, Read or Write, from this or another session", async () => {
    const [here, there] = [await login("bob"), await login("bob")];
    const caller = await callerOf(here);
    await end(caller, there);
    await end(caller, here);
    expect(await works(here)).toBe(false);
  });

  test("is for Administrators with Write, users and keys; with Read it is not found", async () => {
    const [alice, bob, root, auditor] = [
      await login("alice"),
      await login("bob"),
      await login("root"),
      await login("auditor"),
    ];
    for (const caller of [await callerOf(auditor), await key("watcher"), await callerOf(bob)]) {
      expect((await refusalOf(() => end(caller, alice))).code).toBe("not_found");
    }
    expect(await works(alice)).toBe(true);
    await end(await callerOf(root), alice);
    await end(await key("ops"), bob);
    await end(await callerOf(auditor), auditor);
    expect(await list(await key("ops"))).toEqual(ids(root));
  });

  test("twice is not found the second time, and of two at once one wins", async () => {
    const [alice, bob] = [await login("alice"), await login("bob")];
    const ops = await key("ops");
    await end(ops, alice);
    expect((await refusalOf(() => end(ops, alice))).code).toBe("not_found");
    const both = await Promise.allSettled([end(ops, bob), end(ops, bob)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(setup.observed.filter(({ kind }) => kind === "session_ended")).toHaveLength(2);
  });

  test("reaches the other replicas, one that starts later included", async () => {
    const replica = await authenticationSetup({ store: store.store, projects: [bookshop], clock });
    const alice = await login("alice");
    const late = await login("alice");
    await replica.authentication.callerOf(replica.live(), bearer(alice.access_token));
    await end(await key("ops"), alice);
    await end(await key("ops"), late);
    const newcomer = await authenticationSetup({ store: store.store, projects: [bookshop], clock });
    for (const { authentication, live } of [replica, newcomer]) {
      for (const { access_token } of [alice, late]) {
        expect((await refusalOf(() => authentication.callerOf(live(), bearer(access_token)))).code).toBe(
          "invalid_credentials",
        );
      }
    }
  });

  test("works here at once, before the store tells its followers", async () => {
    const deaf = { ...store.store, followEndedSessions: async () => ({ stop: async () => undefined }) };
    const { authentication, sessions, live } = await authenticationSetup({ store: deaf, projects: [bookshop], clock });
    const alice = await login("alice");
    await sessions.endSession(live(), await callerOf(alice), alice.session_id);
    expect((await refusalOf(() => authentication.callerOf(live(), bearer(alice.access_token)))).code).toBe(
      "invalid_credentials",
    );
  });

  test("outlasts every token of it, also when their life is shortened and lengthened again and a replica starts late", async () => {
    const long = changed(bookshop, withSessions({ accessTokenSeconds: 3600 }));
    setup.memory.put(long);
    const alice = await login("alice");
    setup.memory.put(bookshop);
    await end(await key("ops"), alice);
    clock.advance(3_600_000 - 1000);
    setup.memory.put(long);
    const newcomer = await authenticationSetup({ store: store.store, projects: [long], clock });
    for (const { authentication, live } of [setup, newcomer]) {
      expect((await refusalOf(() => authentication.callerOf(live(), bearer(alice.access_token)))).code).toBe(
        "invalid_credentials",
      );
    }
  });

  test("that was not heard of any more after close changes nothing here", async () => {
    const replica = await authenticationSetup({ store: store.store, projects: [bookshop], clock });
    const alice = await login("alice");
    await replica.authentication.close();
    await end(await key("ops"), alice);
    expect(await replica.authentication.callerOf(replica.live(), bearer(alice.access_token))).toMatchObject({
      name: "alice",
    });
  });

  for (const [fault, code] of [
    ["unavailable", "store_unavailable"],
    ["unknown", "outcome_unknown"],
  ] as const) {
    test(`that the store did not take (${fault}) is said so, and the tokens are refused here: it can be repeated`, async () => {
      const alice = await login("alice");
      const ops = await key("ops");
      store.breakWith(fault, "endSession");
      for (let n = 0; n < 2; n += 1) {
        expect((await refusalOf(() => end(ops, alice))).code).toBe(code);
        expect(await works(alice)).toBe(false);
      }
      store.breakWith("none");
      await end(ops, alice);
      expect(await works(alice)).toBe(false);
      expect((await refusalOf(() => end(ops, alice))).code).toBe("not_found");
    });
  }

  test("of somebody who may not end it changes nothing, whatever the store says", async () => {
    const alice = await login("alice");
    store.breakWith("unavailable", "endSession", "session");
    await expect(end(await key("ops"), alice)).rejects.toThrow(StoreUnavailable);
    store.breakWith("none");
    expect(await works(alice)).toBe(true);
  });
});

test("sessions answer project_unavailable when their users can't be looked up", async () => {
  let answers = true;
  const replica = await authenticationSetup({
    store: store.store,
    projects: [bookshop],
    clock,
    directory: (memory) => ({
      ...memory,
      user: (...args) => (answers ? memory.user(...args) : { outcome: "unavailable" }),
    }),
  });
  const alice = await login("alice");
  const ops = await replica.authentication.callerOf(replica.live(), apikey("ops"));
  answers = false;
  const asks = [
    () => replica.sessions.sessions(replica.live(), ops),
    () => replica.sessions.session(replica.live(), ops, alice.session_id),
    () => replica.sessions.endSession(replica.live(), ops, alice.session_id),
  ];
  for (const ask of asks) expect((await refusalOf(ask)).code).toBe("project_unavailable");
});
