// Who the server takes a caller for, and the caller's own session by its access token alone.

import { beforeEach, expect, it } from "vitest";
import { type Login, login, make, outcome, refresh } from "../support/http/api-calls.ts";
import {
  apikey,
  bearer,
  project,
  withAuthenticationDisabled,
  withKey,
  withResource,
  withUser,
} from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { type ManualClock, manualClock } from "../support/time/manual-clock.ts";

const now = 1_760_000_000;
const shop = project(
  "shop",
  withUser("alice", { access: "Read" }),
  withUser("admin", { role: "Administrators" }),
  withKey("writer"),
  withKey("guest", { role: "Administrators", access: "Read", expiresAt: now + 3600 }),
  withResource("whoami"),
  withResource("current"),
);

describeServedOnBothStores("whoami", (serve) => {
  let clock: ManualClock;
  let served: Served;
  let alice: Login;
  beforeEach(async () => {
    clock = manualClock(now * 1000);
    served = await serve(shop, { clock });
    alice = await login(served, "alice");
  });
  const ask = async (as?: string) => {
    const reply = await served.send("/whoami", as === undefined ? {} : { as });
    return reply.status === 200 ? reply.json<unknown>() : outcome(reply);
  };

  it("says of a user the role and access of now, when the access token expires, and the session", async () => {
    const token = bearer(alice.access_token);
    const view = { kind: "user", name: "alice", role: "Users", access: "Read", expires: now + 300 };
    expect(await ask(token)).toEqual({ ...view, session_id: alice.session_id });
    served.change(withUser("alice", { role: "Administrators", access: "Write" }));
    const promoted = { role: "Administrators", access: "Write", session_id: alice.session_id };
    expect(await ask(token)).toEqual({ ...view, ...promoted });
    clock.advance(60_000);
    const renewed = (await refresh(served, alice.refresh_token)).json<{ access_token: string }>().access_token;
    expect(await ask(bearer(renewed))).toMatchObject({ expires: now + 360, session_id: alice.session_id });
  });

  it("says of a key its name, role and access, and its expiry where it has one", async () => {
    expect(await ask(apikey("writer"))).toEqual({ kind: "apikey", name: "writer", role: "Users", access: "Write" });
    expect(await ask(apikey("guest"))).toEqual({
      ...{ kind: "apikey", name: "guest", role: "Administrators", access: "Read" },
      expires: now + 3600,
    });
  });

  it("says of a caller without a credential that it is anonymous, and nothing else", async () => {
    expect(await ask()).toEqual({ kind: "anonymous", name: "anonymous" });
    const open = await serve(project("open", withAuthenticationDisabled(), withKey("writer")));
    expect((await open.send("/whoami")).json()).toEqual({ kind: "anonymous", name: "anonymous" });
    expect((await open.send("/whoami", { as: apikey("writer") })).json()).toMatchObject({ kind: "apikey" });
  });

  it("says what the objects of the caller have as creator", async () => {
    for (const as of [apikey("writer"), bearer((await login(served, "admin")).access_token)]) {
      const { kind, name } = (await served.send("/whoami", { as })).json<{ kind: string; name: string }>();
      const { _metadata } = await make(served, "whoami", {}, as);
      expect([_metadata.creator_type, _metadata.creator]).toEqual([kind, name]);
    }
  });

  it("refuses a bad or expired credential as everywhere: nobody is taken for anonymous", async () => {
    expect(await ask("apikey wrong")).toEqual([401, "invalid_credentials"]);
    expect(await ask("bearer wrong")).toEqual([401, "invalid_credentials"]);
    clock.advance(3_600_000);
    expect(await ask(bearer(alice.access_token))).toEqual([401, "token_expired"]);
    expect(await ask(apikey("guest"))).toEqual([401, "token_expired"]);
  });

  it("is read only, with a trailing slash or without, and stands beside resources of its name", async () => {
    expect((await served.send("/whoami/", { as: apikey("writer") })).status).toBe(200);
    expect((await served.send("/whoami", { method: "HEAD" })).text).toBe("");
    const reply = await served.send("/whoami", { method: "POST", as: apikey("writer") });
    expect([reply.status, reply.headers["allow"]]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(outcome(await served.send("/whoami/x"))).toEqual([404, "unknown_path"]);
    expect((await served.send("/api/whoami", { as: apikey("writer") })).json()).toMatchObject({ count: 0 });
  });

  it("can be asked from any origin, and no cache keeps its answer for another caller", async () => {
    const { headers } = await served.send("/whoami", { headers: { origin: "https://app.example" } });
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect([headers["cache-control"], headers["vary"]]).toEqual(["private, no-cache", "Authorization, Origin"]);
    const asked = { origin: "https://app.example", "access-control-request-method": "DELETE" };
    const preflight = await served.send("/sessions/current", { method: "OPTIONS", headers: asked });
    expect(preflight.headers["access-control-allow-methods"]).toBe("GET, HEAD, DELETE, OPTIONS");
  });
});

describeServedOnBothStores("the session named current", (serve) => {
  let served: Served;
  let alice: Login;
  beforeEach(async () => {
    served = await serve(shop);
    alice = await login(served, "alice");
  });
  const current = (method: string, as?: string) =>
    served.send("/sessions/current", { method, ...(as !== undefined && { as }) });

  it("is that of the access token: it is shown, and ended with 204, and no other session of the user ends", async () => {
    const other = await login(served, "alice");
    const shown = await current("GET", bearer(alice.access_token));
    expect(shown.json()).toMatchObject({ id: alice.session_id, user: "alice" });
    const ended = await current("DELETE", bearer(alice.access_token));
    expect([ended.status, ended.text]).toEqual([204, ""]);
    expect(outcome(await current("GET", bearer(alice.access_token)))).toEqual([401, "invalid_credentials"]);
    expect(outcome(await refresh(served, alice.refresh_token))).toEqual([401, "invalid_credentials"]);
    expect((await current("GET", bearer(other.access_token))).json()).toMatchObject({ id: other.session_id });
  });

  it("is none of a key, and asks for a credential", async () => {
    for (const method of ["GET", "DELETE"]) {
      const reply = await current(method, apikey("writer"));
      expect(outcome(reply)).toEqual([404, "not_found"]);
      expect(reply.json<{ detail: string }>().detail).toContain("send the access token of a login");
      expect(outcome(await current(method))).toEqual([401, "authentication_required"]);
    }
    expect((await current("GET", bearer(alice.access_token))).status).toBe(200);
  });
});
