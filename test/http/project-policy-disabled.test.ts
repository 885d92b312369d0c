// What a project without authentication lets everybody do, and what it still refuses.

import { beforeAll, describe, expect, it } from "vitest";
import { list, login, make, outcome, refresh } from "../support/http/api-calls.ts";
import {
  apikey,
  basic,
  bearer,
  keyOf,
  project,
  withAuthenticationDisabled,
  withConfig,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const of = (permission: "Anyone" | "Authenticated" | "Administrators" | "Nobody") => ({
  create: permission,
  read: permission,
  update: permission,
  delete: permission,
});

const open = project(
  "open",
  withAuthenticationDisabled(),
  withUser("alice"),
  withKey("reader", { access: "Read" }),
  withResource("plain"),
  withResource("administered", { access: of("Administrators"), scope: { read: "Own", write: "Own" } }),
  withResource("frozen", { access: { ...of("Nobody"), read: "Anyone" } }),
  withResource("sealed", { access: of("Nobody") }),
  withRootKey("flags"),
  withRootKey("administered", { access: of("Administrators") }),
  withRootKey("sealed", { access: of("Nobody") }),
);

const withoutCredentials = project("bare", withAuthenticationDisabled(), withResource("notes"), withRootKey("flags"));

describeServed("a project with authentication disabled", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(open);
  });

  it("needs neither users nor keys: everybody creates, gets, lists, changes and deletes", async () => {
    const bare = await serve(withoutCredentials);
    const made = await make(bare, "notes", { text: "hello" });
    const path = `/api/notes/${made.id}`;
    expect((await bare.send(path)).json()).toEqual(made);
    expect((await list(bare, "notes")).items).toEqual([made]);
    expect((await bare.send(path, { method: "PUT", body: { text: "bye" } })).json()).toEqual({ ...made, text: "bye" });
    expect((await bare.send(path, { method: "DELETE" })).status).toBe(204);
    expect((await list(bare, "notes")).count).toBe(0);
    expect((await bare.send("/json/flags/a", { method: "POST", body: 1 })).status).toBe(201);
    expect((await bare.send("/json/flags/a", { method: "PUT", body: 2 })).status).toBe(200);
    expect((await bare.send("/json/flags/a", { method: "DELETE" })).text).toBe("{}");
  });

  it("names the creator anonymous", async () => {
    expect((await make(served, "plain", {}))._metadata).toMatchObject({
      creator: "anonymous",
      creator_type: "anonymous",
    });
  });

  it("takes Authenticated and Administrators for Anyone, without scopes", async () => {
    const byKey = await make(served, "administered", { n: 1 }, apikey("reader"));
    const byNobody = await make(served, "administered", { n: 2 });
    expect((await list(served, "administered")).items).toEqual([byKey, byNobody]);
    expect((await list(served, "administered", apikey("reader"))).items).toEqual([byKey, byNobody]);
    expect((await served.send(`/api/administered/${byKey.id}`, { method: "PUT", body: { n: 3 } })).status).toBe(200);
    expect(
      (await served.send(`/api/administered/${byNobody.id}`, { method: "DELETE", as: apikey("reader") })).status,
    ).toBe(204);
    expect((await served.send(`/api/administered/${byKey.id}`, { method: "DELETE" })).status).toBe(204);
    expect((await served.send("/json/administered/a", { method: "PUT", body: 1 })).status).toBe(201);
    expect((await served.send("/json/administered")).text).toBe('{"a":1}');
  });

  it("still lets Nobody do what Nobody may", async () => {
    const requests = [
      served.send("/api/sealed"),
      served.send("/api/sealed", { method: "POST", body: {} }),
      served.send("/api/sealed/0190a000-0000-7000-8000-000000000000"),
      served.send("/api/frozen", { method: "POST", body: {} }),
      served.send("/api/frozen/0190a000-0000-7000-8000-000000000000", { method: "PUT", body: {} }),
      served.send("/api/frozen/0190a000-0000-7000-8000-000000000000", { method: "DELETE" }),
      served.send("/json/sealed"),
      served.send("/json/sealed/a", { method: "POST", body: 1 }),
      served.send("/json/sealed/a", { method: "PUT", body: 1 }),
      served.send("/json/sealed/a", { method: "DELETE" }),
    ];
    expect((await Promise.all(requests)).map(outcome)).toEqual(Array(10).fill([403, "insufficient_access"]));
    expect((await list(served, "frozen")).count).toBe(0);
  });

  it("names the caller as creator when a valid credential comes along", async () => {
    const { access_token } = await login(served, "alice");
    expect((await make(served, "plain", {}, bearer(access_token)))._metadata).toMatchObject({
      creator: "alice",
      creator_type: "user",
    });
    expect((await make(served, "plain", {}, apikey("reader")))._metadata).toMatchObject({
      creator: "reader",
      creator_type: "apikey",
    });
  });

  it.each([
    ["an unknown key", "apikey jp_unknown"],
    ["a scheme of ours with nothing behind it", "apikey"],
    ["a token that is none", "bearer nonsense"],
    ["a token of three parts that is none", "Bearer a.b.c"],
    ["a key as a token", `bearer ${keyOf("reader")}`],
    ["our scheme in capitals", "APIKEY nonsense"],
  ])("refuses %s", async (_what, as) => {
    for (const path of ["/api/plain", "/json/flags"]) {
      const reply = await served.send(path, { as });
      expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
      expect(reply.headers["www-authenticate"]).toContain("Bearer realm=");
    }
    expect((await served.send("/api/plain")).status).toBe(200);
  });

  it.each([
    ["a proxy's Basic", "Basic cHJveHk6c2VjcmV0"],
    ["Basic that is a user's", basic("alice")],
    ["Basic that is none", "Basic %%%"],
    ["Digest", 'Digest username="x"'],
    ["Negotiate", "Negotiate YIIB"],
    ["a word without a scheme", "secret"],
    ["an empty header", ""],
  ])("ignores %s", async (_what, as) => {
    expect((await make(served, "plain", {}, as))._metadata.creator).toBe("anonymous");
  });

  it("refuses a credential that has expired, as everywhere", async () => {
    const served = await serve(
      project("open", withAuthenticationDisabled(), withKey("old", { expiresAt: 1 }), withResource("r")),
    );
    expect(outcome(await served.send("/api/r", { as: apikey("old") }))).toEqual([401, "token_expired"]);
  });

  describe("still has sessions:", () => {
    it("login, refresh, lists and ends work", async () => {
      const session = await login(served, "alice");
      expect((await refresh(served, session.refresh_token)).status).toBe(200);
      const as = bearer(session.access_token);
      expect((await served.send("/sessions", { as })).json().count).toBeGreaterThanOrEqual(1);
      expect((await served.send(`/sessions/${session.session_id}`, { method: "DELETE", as })).status).toBe(204);
      expect(outcome(await served.send("/api/plain", { as }))).toEqual([401, "invalid_credentials"]);
    });

    it("they are nobody's business without a credential", async () => {
      for (const as of [undefined, "Basic cHJveHk6c2VjcmV0"]) {
        const reply = await served.send("/sessions", as === undefined ? {} : { as });
        expect(outcome(reply)).toEqual([401, "authentication_required"]);
      }
      expect(outcome(await served.send("/sessions", { method: "POST", as: basic("alice", "wrong") }))).toEqual([
        401,
        "invalid_credentials",
      ]);
    });
  });

  it("that enables it keeps what was made anonymously for administrators and for nobody's eyes else", async () => {
    const switched = await serve(
      project(
        "switch",
        withAuthenticationDisabled(),
        withKey("boss", { role: "Administrators" }),
        withKey("user"),
        withResource("plain"),
      ),
    );
    const made = await make(switched, "plain", { n: 1 });
    switched.change(withConfig({ authentication: "Enabled" }));
    expect(outcome(await switched.send("/api/plain"))).toEqual([401, "authentication_required"]);
    expect((await list(switched, "plain", apikey("boss"))).items).toEqual([made]);
    expect((await list(switched, "plain", apikey("user"))).count).toBe(0);
  });
});
