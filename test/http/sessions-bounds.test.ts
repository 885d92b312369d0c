// How many sessions there may be: one user's least recently refreshed one gives way, and a full
// project refuses.

import { expect, it } from "vitest";
import { type Login, login, outcome, refresh } from "../support/http/api-calls.ts";
import {
  apikey,
  basic,
  bearer,
  changed,
  project,
  withKey,
  withResource,
  withSessions,
  withUser,
} from "../support/http/projects.ts";
import { describeReplicas, describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { type ManualClock, manualClock, offBy } from "../support/time/manual-clock.ts";

describeServedOnBothStores("a login beyond what may be", (serve) => {
  const admin = apikey("admin");
  const shops = project(
    "shop",
    withUser("alice"),
    withUser("bob"),
    withKey("admin", { role: "Administrators" }),
    withResource("books"),
  );
  const sessionsOf = async (served: Served) =>
    (await served.send("/sessions", { as: admin })).json<{ items: { id: string; user: string }[] }>().items;
  const idsOf = async (served: Served, user: string) => {
    const all = (await sessionsOf(served)).filter((session) => session.user === user);
    return all.map(({ id }) => id).sort();
  };
  const some = async (served: Served, count: number, clock?: ManualClock) => {
    const logins: Login[] = [];
    for (let n = 0; n < count; n += 1) {
      logins.push(await login(served, "alice"));
      clock?.advance(1_000);
    }
    return logins;
  };

  it("of one user, the 101st, gives up the one refreshed least recently: it can't be refreshed, its access token lives out its minutes", async () => {
    const clock = manualClock();
    const served = await serve(shops, { clock });
    const other = await login(served, "bob");
    const logins = await some(served, 100, clock);
    const [first, second, ...others] = logins;
    clock.advance(60_000);
    expect((await refresh(served, first?.refresh_token ?? "")).status).toBe(200);
    const last = await login(served, "alice");
    expect(await idsOf(served, "alice")).toEqual([first, ...others, last].map((one) => one?.session_id).sort());
    expect(outcome(await refresh(served, second?.refresh_token ?? ""))).toEqual([401, "invalid_credentials"]);
    expect((await served.send("/api/books", { as: bearer(second?.access_token ?? "") })).status).toBe(200);
    expect((await refresh(served, last.refresh_token)).status).toBe(200);
    expect((await refresh(served, other.refresh_token)).status).toBe(200);
  });

  it("of the project is 429, promises nothing, counts as no failure, and ends nobody's session", async () => {
    const served = await serve(changed(shops, withSessions({ maxPerProject: 3 })));
    const logins = await some(served, 3);
    for (let n = 0; n < 12; n += 1) {
      const reply = await served.send("/sessions", { method: "POST", as: basic(n % 2 === 0 ? "alice" : "bob") });
      expect(outcome(reply)).toEqual([429, "too_many_sessions"]);
      expect(reply.headers["retry-after"]).toBeUndefined();
    }
    for (const { refresh_token } of logins) expect((await refresh(served, refresh_token)).status).toBe(200);
    await served.send(`/sessions/${logins[0]?.session_id}`, { method: "DELETE", as: admin });
    expect((await login(served, "bob")).message).toBe("Successfully logged in");
  });

  it("goes by what the project says now", async () => {
    const served = await serve(changed(shops, withSessions({ maxPerUser: 1 })));
    const [one, two] = await some(served, 2);
    expect(await idsOf(served, "alice")).toEqual([two?.session_id]);
    served.change(withSessions({ maxPerUser: 2 }));
    const [three] = await some(served, 1);
    expect(await idsOf(served, "alice")).toEqual([two, three].map((login) => login?.session_id).sort());
    expect(outcome(await refresh(served, one?.refresh_token ?? ""))).toEqual([401, "invalid_credentials"]);
  });
});

describeReplicas("the bounds of sessions", (serveTwice) => {
  it("go by Redis' time: a replica whose clock is days ahead takes none for expired, and none of its own for longer lived", async () => {
    const shop = project(
      "shop",
      withUser("alice"),
      withUser("bob"),
      withUser("carol"),
      withKey("admin", { role: "Administrators" }),
    );
    const clock = manualClock();
    const most = withSessions({ maxPerUser: 2, maxPerProject: 5 });
    const [right, ahead] = await serveTwice(changed(shop, most), { clock }, { clock: offBy(clock, 73 * 3_600_000) });
    const logins: Login[] = [];
    for (let n = 0; n < 3; n += 1) {
      logins.push(await login(right, "alice"));
      await login(ahead, "bob");
      clock.advance(1_000);
    }
    const refreshed: number[] = [];
    for (const { refresh_token } of logins) refreshed.push((await refresh(right, refresh_token)).status);
    expect(refreshed).toEqual([401, 200, 200]);
    const users = (await right.send("/sessions", { as: apikey("admin") })).json<{ items: { user: string }[] }>().items;
    expect(users.map(({ user }) => user).sort()).toEqual(["alice", "alice", "bob", "bob"]);
    await login(ahead, "carol");
    for (const at of [right, ahead]) {
      const reply = await at.send("/sessions", { method: "POST", as: basic("carol") });
      expect(outcome(reply)).toEqual([429, "too_many_sessions"]);
    }
  });
});
