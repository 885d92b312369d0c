// Who sees sessions and who ends them, and that an ended one is dead everywhere.

import { beforeEach, expect, it } from "vitest";
import { type Login, login, outcome, refresh } from "../support/http/api-calls.ts";
import { apikey, bearer, project, withKey, withoutUser, withResource, withUser } from "../support/http/projects.ts";
import { describeReplicas, describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { type ManualClock, manualClock } from "../support/time/manual-clock.ts";

const shop = project(
  "shop",
  withUser("alice"),
  withUser("bob", { access: "Read" }),
  withUser("admin", { role: "Administrators" }),
  withUser("auditor", { role: "Administrators", access: "Read" }),
  withKey("users"),
  withKey("admins", { role: "Administrators" }),
  withKey("auditors", { role: "Administrators", access: "Read" }),
  withResource("books"),
);

interface View {
  readonly id: string;
  readonly user: string;
}

describeServedOnBothStores("the sessions of a project", (serve) => {
  let clock: ManualClock;
  let served: Served;
  let alice: Login;
  let bob: Login;
  beforeEach(async () => {
    clock = manualClock(1_760_000_000_000);
    served = await serve(shop, { clock });
    alice = await login(served, "alice");
    bob = await login(served, "bob");
  });
  const ask = (token: string) => served.send("/api/books", { as: bearer(token) });
  const seen = async (as: string): Promise<readonly View[]> => {
    const reply = await served.send("/sessions", { as });
    expect(reply.status).toBe(200);
    const { count, items } = reply.json<{ count: number; items: View[] }>();
    expect(count).toBe(items.length);
    return items;
  };
  const end = (session: Pick<Login, "session_id">, as?: string) =>
    served.send(`/sessions/${session.session_id}`, { method: "DELETE", ...(as !== undefined && { as }) });

  it("are shown to administrators: all that live, with id, user, role, access, created and last refresh", async () => {
    clock.advance(60_000);
    await refresh(served, alice.refresh_token);
    for (const as of [apikey("admins"), apikey("auditors")]) {
      expect((await seen(as)).toSorted((left, right) => left.user.localeCompare(right.user))).toEqual([
        {
          id: alice.session_id,
          user: "alice",
          role: "Users",
          access: "Write",
          created: 1_760_000_000,
          last_refresh: 1_760_000_060,
        },
        {
          id: bob.session_id,
          user: "bob",
          role: "Users",
          access: "Read",
          created: 1_760_000_000,
          last_refresh: 1_760_000_000,
        },
      ]);
    }
  });

  it("are shown to users as far as they are theirs, to other keys not at all", async () => {
    const second = await login(served, "alice");
    const ids = (await seen(bearer(alice.access_token))).map((view) => view.id);
    expect(ids.toSorted()).toEqual([alice.session_id, second.session_id].toSorted());
    expect((await seen(bearer(bob.access_token))).map((view) => view.user)).toEqual(["bob"]);
    expect(await seen(apikey("users"))).toEqual([]);
  });

  it("never show a token", async () => {
    for (const path of ["/sessions", `/sessions/${alice.session_id}`]) {
      const { text } = await served.send(path, { as: apikey("admins") });
      expect(text).not.toMatch(/token|eyJ/);
    }
  });

  it("are readable one by one by whom they are shown to, and 404 to others", async () => {
    const path = `/sessions/${alice.session_id}`;
    for (const as of [bearer(alice.access_token), apikey("admins"), apikey("auditors")]) {
      expect((await served.send(path, { as })).json()).toMatchObject({ id: alice.session_id, user: "alice" });
    }
    for (const as of [bearer(bob.access_token), apikey("users")]) {
      expect(outcome(await served.send(path, { as }))).toEqual([404, "not_found"]);
    }
  });

  it("need a credential", async () => {
    for (const method of ["GET", "DELETE"]) {
      const reply = await served.send(`/sessions/${alice.session_id}`, { method });
      expect(outcome(reply)).toEqual([401, "authentication_required"]);
    }
    expect(outcome(await served.send("/sessions"))).toEqual([401, "authentication_required"]);
    expect((await ask(alice.access_token)).status).toBe(200);
  });

  it("end by their user: 204, then both tokens are 401 at once and the session is gone", async () => {
    const reply = await end(alice, bearer(alice.access_token));
    expect([reply.status, reply.text]).toEqual([204, ""]);
    expect(outcome(await ask(alice.access_token))).toEqual([401, "invalid_credentials"]);
    expect(outcome(await refresh(served, alice.refresh_token))).toEqual([401, "invalid_credentials"]);
    expect((await seen(apikey("admins"))).map((view) => view.user)).toEqual(["bob"]);
    expect(outcome(await end(alice, apikey("admins")))).toEqual([404, "not_found"]);
    expect((await ask(bob.access_token)).status).toBe(200);
  });

  it("end with Read access, too, when they are one's own", async () => {
    expect((await end(bob, bearer(bob.access_token))).status).toBe(204);
    const auditor = await login(served, "auditor");
    expect((await end(auditor, bearer(auditor.access_token))).status).toBe(204);
  });

  it("end one at a time: the user's other sessions live on", async () => {
    const second = await login(served, "alice");
    expect((await end(alice, bearer(second.access_token))).status).toBe(204);
    expect(outcome(await ask(alice.access_token))).toEqual([401, "invalid_credentials"]);
    expect((await ask(second.access_token)).status).toBe(200);
  });

  it("end by administrators with Write, whosever they are", async () => {
    const admin = await login(served, "admin");
    expect((await end(alice, apikey("admins"))).status).toBe(204);
    expect((await end(bob, bearer(admin.access_token))).status).toBe(204);
    for (const { access_token } of [alice, bob]) {
      expect(outcome(await ask(access_token))).toEqual([401, "invalid_credentials"]);
    }
  });

  it("are 404 to end for other users, other keys and administrators with Read", async () => {
    const auditor = await login(served, "auditor");
    for (const as of [bearer(bob.access_token), apikey("users"), apikey("auditors"), bearer(auditor.access_token)]) {
      const reply = await end(alice, as);
      expect(outcome(reply)).toEqual([404, "not_found"]);
      expect(reply.json().detail).toBe("No session with this id exists, or the caller may not end it");
    }
    expect((await ask(alice.access_token)).status).toBe(200);
  });

  it.each(["0197f6a0-0000-4000-8000-000000000001", "x", "*", "%7B%7D", "constructor", "..%2F..", "a".repeat(900)])(
    "are 404 under the id %s",
    async (id) => {
      for (const method of ["GET", "DELETE"]) {
        const reply = await served.send(`/sessions/${id}`, { method, as: apikey("admins") });
        expect(outcome(reply)).toEqual([404, "not_found"]);
        expect(reply.json().detail).toContain(method === "GET" ? "may not see it" : "may not end it");
      }
      expect((await seen(apikey("admins"))).length).toBe(2);
    },
  );

  it("are 404 to administrators of another project", async () => {
    const rival = await serve([project("rival", withKey("boss", { role: "Administrators" })), shop]);
    const reply = await rival.send(`/sessions/${alice.session_id}`, { method: "DELETE", as: apikey("boss") });
    expect(outcome(reply)).toEqual([404, "not_found"]);
  });

  it("vanish from the list when their refresh token expires, when the password changes and when the user goes", async () => {
    served.change(withoutUser("bob"));
    expect((await seen(apikey("admins"))).map((view) => view.user)).toEqual(["alice"]);
    served.change(withUser("alice", { password: "another" }));
    expect(await seen(apikey("admins"))).toEqual([]);
    await login(served, "alice", "another");
    clock.advance(72 * 3600 * 1000);
    expect(await seen(apikey("admins"))).toEqual([]);
  });

  it("that were opened while the clock was a day ahead let nobody in for longer than a token lives, and stay ended on that day", async () => {
    // Redis' own time is that of now.
    const time = manualClock(Date.now());
    const at = await serve(shop, { clock: time });
    const enter = async (token: string) => outcome(await at.send("/api/books", { as: bearer(token) }));
    const endAt = async (id: string) =>
      (await at.send(`/sessions/${id}`, { method: "DELETE", as: apikey("admins") })).status;
    const tokenOf = async ({ refresh_token }: Login) =>
      (await refresh(at, refresh_token)).json<{ access_token: string }>().access_token;
    const day = 86_400_000;
    const opened = await login(at, "alice");
    time.adjust(day);
    const early = await login(at, "alice");
    const refreshed = await tokenOf(opened);
    time.adjust(-day);
    for (const token of [early.access_token, refreshed]) expect(await enter(token)).toEqual([401, "token_expired"]);
    for (const session of [early, opened]) {
      expect((await enter(await tokenOf(session)))[0]).toBe(200);
      expect(await endAt(session.session_id)).toBe(204);
    }
    expect((await refresh(at, early.refresh_token)).status).toBe(401);
    // Whoever ends one forgets those whose tokens have expired.
    const other = await login(at, "bob");
    time.advance(day);
    expect(await endAt(other.session_id)).toBe(204);
    for (const token of [early.access_token, refreshed]) {
      await eventually(async () => expect(await enter(token)).toEqual([401, "invalid_credentials"]));
    }
  });

  it("take tokens of a replica whose clock is ahead by less than a token lives", async () => {
    clock.adjust(299_000);
    const early = await login(served, "alice");
    clock.adjust(-299_000);
    expect((await ask(early.access_token)).status).toBe(200);
  });

  it("show the role and access of now", async () => {
    served.change(withUser("alice", { role: "Administrators", access: "Read" }));
    const reply = await served.send(`/sessions/${alice.session_id}`, { as: bearer(alice.access_token) });
    expect(reply.json()).toMatchObject({ role: "Administrators", access: "Read" });
  });
});

describeReplicas("an ended session", (serveTwice) => {
  it("is refused on the other replica as well, its tokens verified there before or not", async () => {
    const [one, other] = await serveTwice(shop);
    const sessions = [await login(one, "alice"), await login(one, "alice")] as const;
    const ask = (replica: Served, { access_token }: Login) => replica.send("/api/books", { as: bearer(access_token) });
    expect((await ask(other, sessions[0])).status).toBe(200);
    for (const session of sessions) {
      await one.send(`/sessions/${session.session_id}`, { method: "DELETE", as: bearer(session.access_token) });
    }
    for (const session of sessions) {
      await eventually(async () => {
        expect(outcome(await ask(other, session))).toEqual([401, "invalid_credentials"]);
      });
      expect(outcome(await refresh(other, session.refresh_token))).toEqual([401, "invalid_credentials"]);
    }
  });

  it("is not seen on the other replica, which can't end it again", async () => {
    const [one, other] = await serveTwice(shop);
    const session = await login(one, "alice");
    const path = `/sessions/${session.session_id}`;
    expect((await other.send(path, { as: apikey("admins") })).status).toBe(200);
    await one.send(path, { method: "DELETE", as: apikey("admins") });
    expect((await other.send(path, { as: apikey("admins") })).status).toBe(404);
    expect((await other.send(path, { method: "DELETE", as: apikey("admins") })).status).toBe(404);
    expect((await other.send("/sessions", { as: apikey("admins") })).json().count).toBe(0);
  });

  it("stays refused on a replica that starts afterwards", async () => {
    const [one] = await serveTwice(shop);
    const session = await login(one, "alice");
    await one.send(`/sessions/${session.session_id}`, { method: "DELETE", as: apikey("admins") });
    const [late] = await serveTwice(one.change(), { namespace: one.namespace });
    const reply = await late.send("/api/books", { as: bearer(session.access_token) });
    expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
  });
});
