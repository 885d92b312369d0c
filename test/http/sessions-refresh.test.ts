// How a session lives on: access tokens of five minutes, refresh tokens of days, and what ends
// both.

import { beforeEach, expect, it } from "vitest";
import { type Login, list, login, make, outcome, refresh } from "../support/http/api-calls.ts";
import {
  apikey,
  basic,
  bearer,
  project,
  withKey,
  withoutUser,
  withResource,
  withSessions,
  withUser,
} from "../support/http/projects.ts";
import { describeReplicas, describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { type ManualClock, manualClock } from "../support/time/manual-clock.ts";

const minutes = 60_000;
const hours = 60 * minutes;
const shop = project(
  "shop",
  withUser("alice"),
  withUser("bob"),
  withKey("admin", { role: "Administrators" }),
  withResource("books"),
);

describeServedOnBothStores("a session", (serve) => {
  let clock: ManualClock;
  let served: Served;
  let session: Login;
  beforeEach(async () => {
    clock = manualClock();
    served = await serve(shop, { clock });
    session = await login(served, "alice");
  });
  const ask = (token: string) => served.send("/api/books", { as: bearer(token) });
  const refreshed = async () => {
    const reply = await refresh(served, session.refresh_token);
    expect(reply.status).toBe(200);
    return reply.json<{ access_token: string }>().access_token;
  };

  it("has an access token of five minutes: good before, 401 token_expired from then on", async () => {
    clock.advance(5 * minutes - 1);
    expect((await ask(session.access_token)).status).toBe(200);
    clock.advance(1);
    const reply = await ask(session.access_token);
    expect(outcome(reply)).toEqual([401, "token_expired"]);
    expect(reply.headers["www-authenticate"]).toMatch(/^Bearer realm=.*error="invalid_token"/);
    clock.advance(24 * hours);
    expect(outcome(await ask(session.access_token))).toEqual([401, "token_expired"]);
  });

  it("writes nothing with an expired access token", async () => {
    clock.advance(5 * minutes);
    const reply = await served.send("/api/books", { method: "POST", body: {}, as: bearer(session.access_token) });
    expect(outcome(reply)).toEqual([401, "token_expired"]);
    expect((await list(served, "books", apikey("admin"))).count).toBe(0);
  });

  it("goes on with a new access token for the refresh token: 200 with that alone, never to be cached", async () => {
    clock.advance(5 * minutes);
    const reply = await refresh(served, session.refresh_token);
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.json())).toEqual(["access_token"]);
    expect(reply.headers["cache-control"]).toBe("no-store");
    const { access_token } = reply.json<{ access_token: string }>();
    expect(access_token).not.toBe(session.access_token);
    expect((await make(served, "books", {}, bearer(access_token)))._metadata.creator).toBe("alice");
  });

  it("gives each new access token five minutes of its own", async () => {
    clock.advance(10 * minutes);
    const token = await refreshed();
    clock.advance(5 * minutes - 1000);
    expect((await ask(token)).status).toBe(200);
    clock.advance(1000);
    expect(outcome(await ask(token))).toEqual([401, "token_expired"]);
  });

  it("can be refreshed before the access token expires, which stays good, and as often as one likes", async () => {
    const tokens = [await refreshed(), await refreshed(), session.access_token];
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens) expect((await ask(token)).status).toBe(200);
  });

  it("is refreshed with or without a trailing slash, whatever body and content type, in any case of the scheme", async () => {
    for (const path of ["/sessions/refresh", "/sessions/refresh/"]) {
      for (const scheme of ["Bearer", "bearer", "BEARER"]) {
        const reply = await served.send(path, {
          method: "POST",
          as: `${scheme} ${session.refresh_token}`,
          body: "<refresh/>",
          headers: { "content-type": "application/xml" },
        });
        expect(reply.status).toBe(200);
      }
    }
  });

  it("lasts 72 hours: refreshing does not make it longer, and then it is 401 token_expired and a new login", async () => {
    clock.advance(72 * hours - 1000);
    await refreshed();
    clock.advance(1000);
    const reply = await refresh(served, session.refresh_token);
    expect(outcome(reply)).toEqual([401, "token_expired"]);
    expect(reply.headers["www-authenticate"]).toContain("Bearer realm=");
    expect((await ask((await login(served, "alice")).access_token)).status).toBe(200);
  });

  it("without a token hears that one is needed", async () => {
    const reply = await served.send("/sessions/refresh", { method: "POST" });
    expect(outcome(reply)).toEqual([401, "authentication_required"]);
    expect(reply.headers["www-authenticate"]).toMatch(/^Bearer realm=/);
  });

  it("is not refreshed by an access token, good or expired, nor by any other credential", async () => {
    const wrong = [bearer(session.access_token), apikey("admin"), basic("alice"), "", "bearer", "bearer a.b.c"];
    for (const as of wrong) {
      const reply = await served.send("/sessions/refresh", { method: "POST", as });
      expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
    }
    clock.advance(5 * minutes);
    expect(outcome(await refresh(served, session.access_token))).toEqual([401, "invalid_credentials"]);
  });

  it("does not open anything with its refresh token", async () => {
    for (const path of ["/api/books", "/sessions", `/sessions/${session.session_id}`]) {
      expect(outcome(await served.send(path, { as: bearer(session.refresh_token) }))).toEqual([
        401,
        "invalid_credentials",
      ]);
    }
  });

  it("is not refreshed by a token of another project with a user of the same name", async () => {
    const rival = await serve(project("rival", withUser("alice")), { clock });
    const { refresh_token } = await login(rival, "alice");
    expect(outcome(await refresh(served, refresh_token))).toEqual([401, "invalid_credentials"]);
  });

  it("ends when its user is removed: both tokens are 401 at once", async () => {
    served.change(withoutUser("alice"));
    expect(outcome(await ask(session.access_token))).toEqual([401, "invalid_credentials"]);
    expect(outcome(await refresh(served, session.refresh_token))).toEqual([401, "invalid_credentials"]);
    clock.advance(73 * hours);
    expect(outcome(await refresh(served, session.refresh_token))).toEqual([401, "invalid_credentials"]);
  });

  it("ends when its user's password changes, and comes not back with the old password", async () => {
    served.change(withUser("alice", { password: "another", credentialRevision: "2" }));
    expect(outcome(await ask(session.access_token))).toEqual([401, "invalid_credentials"]);
    expect(outcome(await refresh(served, session.refresh_token))).toEqual([401, "invalid_credentials"]);
    const again = await login(served, "alice", "another");
    expect((await ask(again.access_token)).status).toBe(200);
    expect(await served.send("/sessions", { as: bearer(again.access_token) }).then((reply) => reply.json().count)).toBe(
      1,
    );
    served.change(withUser("alice", { credentialRevision: "3" }));
    expect(outcome(await ask(session.access_token))).toEqual([401, "invalid_credentials"]);
  });

  it("leaves other users' sessions alone when one is removed", async () => {
    const bob = await login(served, "bob");
    served.change(withoutUser("alice"));
    expect((await ask(bob.access_token)).status).toBe(200);
    expect((await refresh(served, bob.refresh_token)).status).toBe(200);
  });

  it("has shorter access tokens at once when the project says so, those that are out included", async () => {
    served.change(withSessions({ accessTokenSeconds: 60 }));
    clock.advance(minutes);
    expect(outcome(await ask(session.access_token))).toEqual([401, "token_expired"]);
  });
});

describeReplicas("a session", (serveTwice) => {
  it("opened on one replica is good on the other, refreshed there and good on the first again", async () => {
    const [one, other] = await serveTwice(shop);
    const session = await login(one, "alice");
    expect((await other.send("/api/books", { as: bearer(session.access_token) })).status).toBe(200);
    const { access_token } = (await refresh(other, session.refresh_token)).json<{ access_token: string }>();
    expect((await one.send("/api/books", { as: bearer(access_token) })).status).toBe(200);
  });
});
