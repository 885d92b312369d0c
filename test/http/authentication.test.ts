// Which Authorization headers prove a caller, and what everything else hears, on open endpoints
// too.

import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { login, make, outcome } from "../support/http/api-calls.ts";
import {
  apikey,
  basic,
  bearer,
  keyOf,
  project,
  withConfig,
  withKey,
  withoutKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const expiresAt = 1_760_000_060;
const shop = project(
  "shop",
  withKey("ci"),
  withKey("temporary", { expiresAt }),
  withUser("alice"),
  withUser("reader", { access: "Read" }),
  withResource("books"),
  withResource("open", { access: { create: "Anyone", read: "Anyone" }, scope: { read: "All" } }),
  withRootKey("flags"),
);
const rival = project("rival", withKey("ci", { key: "jp_of-the-rival" }), withUser("alice"), withResource("books"));

describeServed("a caller", (serve) => {
  let served: Served;
  let token: string;
  beforeAll(async () => {
    served = await serve([shop, rival]);
    token = (await login(served, "alice")).access_token;
  });

  it.each(["apikey", "ApiKey", "APIKEY", "aPiKeY"])("is proved by an API key after %s", async (scheme) => {
    const made = await make(served, "books", {}, `${scheme} ${keyOf("ci")}`);
    expect(made._metadata).toMatchObject({ creator: "ci", creator_type: "apikey" });
  });

  it.each(["bearer", "Bearer", "BEARER"])("is proved by an access token after %s", async (scheme) => {
    const made = await make(served, "books", {}, `${scheme} ${token}`);
    expect(made._metadata).toMatchObject({ creator: "alice", creator_type: "user" });
  });

  it("is proved on every request anew: by one credential after the other on the same connection's worth of requests", async () => {
    for (const [as, creator] of [
      [apikey("ci"), "ci"],
      [bearer(token), "alice"],
      [apikey("ci"), "ci"],
    ] as const) {
      expect((await make(served, "books", {}, as))._metadata.creator).toBe(creator);
    }
  });

  it("without a credential, where one is needed, hears which are taken", async () => {
    const reply = await served.send("/api/books");
    expect(outcome(reply)).toEqual([401, "authentication_required"]);
    const realm = `realm="${served.namespace}/shop"`;
    expect(reply.headers["www-authenticate"]).toBe(`Bearer ${realm}, ApiKey ${realm}`);
  });
});

describeServed("a credential that is no good", (serve) => {
  let served: Served;
  let rivalToken: string;
  let token: string;
  beforeAll(async () => {
    served = await serve([shop, rival]);
    token = (await login(served, "alice")).access_token;
    const rivalServed = await serve([rival, shop]);
    rivalToken = (await login(rivalServed, "alice")).access_token;
  });

  const bad: readonly (readonly [string, () => string])[] = [
    ["an empty header", () => ""],
    ["a scheme alone", () => "apikey"],
    ["a scheme and a blank", () => "bearer "],
    ["a key without a scheme", () => keyOf("ci")],
    ["a token without a scheme", () => token],
    ["an unknown key", () => "apikey jp_unknown"],
    ["a key with something behind it", () => `${apikey("ci")}x`],
    ["a key cut short", () => apikey("ci").slice(0, -1)],
    ["a key and another word", () => `${apikey("ci")} please`],
    ["two keys with a comma", () => `${apikey("ci")},${keyOf("ci")}`],
    ["a key in another case", () => `apikey ${keyOf("ci").toUpperCase()}`],
    ["the key's hash, which the configuration holds", () => `apikey ${sha256(keyOf("ci"))}`],
    ["a key in quotes", () => `apikey "${keyOf("ci")}"`],
    ["a key behind a tab", () => `apikey\t${keyOf("ci")}`],
    ["a key as a token", () => bearer(keyOf("ci"))],
    ["a token as a key", () => `apikey ${token}`],
    ["a token with a part more", () => bearer(`${token}.e30`)],
    ["a token with a part less", () => bearer(token.split(".").slice(0, 2).join("."))],
    ["dots", () => "bearer .."],
    ["no JSON in base64", () => "bearer aaaa.bbbb.cccc"],
    ["the inherited name of a member", () => "apikey constructor"],
    ["a user's name and password, which only login takes", () => basic("alice")],
    ["a key as a password", () => basic("ci", keyOf("ci"))],
    ["another scheme", () => 'Digest username="alice"'],
    ["Negotiate", () => "Negotiate YIIB"],
    ["9,000 characters", () => `apikey ${"x".repeat(9_000)}`],
    ["a key of another project", () => "apikey jp_of-the-rival"],
    ["a token of another project, of a user of the same name", () => bearer(rivalToken)],
  ];

  describe.each(["/api/books", "/api/open", "/json/flags", "/sessions"])("at %s is refused:", (path) => {
    it.each(bad)("%s", async (_what, header) => {
      const reply = await served.send(path, { as: header() });
      expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
      expect(reply.headers["www-authenticate"]).toMatch(/^Bearer realm=.*ApiKey realm=/);
      expect(reply.text).not.toContain("alice");
    });
  });

  it("never makes a caller anonymous: nothing is written where anyone may write", async () => {
    const before = (await served.send("/api/open")).json().count;
    for (const [, header] of bad) {
      const reply = await served.send("/api/open", { method: "POST", body: {}, as: header() });
      expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
    }
    expect((await served.send("/api/open")).json().count).toBe(before);
    expect((await make(served, "open", {}))._metadata.creator).toBe("anonymous");
    expect((await make(served, "books", {}, apikey("ci")))._metadata.creator).toBe("ci");
  });

  it("of one mebibyte is refused with 431, whatever its scheme, and others are served", async () => {
    for (const scheme of ["Basic", "apikey", "bearer"]) {
      for (const path of ["/sessions/", "/api/books"]) {
        const as = `${scheme} ${"QUFB".repeat(1 << 18)}`;
        const reply = await served.send(path, { method: path === "/sessions/" ? "POST" : "GET", as });
        expect(outcome(reply)).toEqual([431, "headers_too_large"]);
        expect((await served.send("/api/books", { as: apikey("ci") })).status).toBe(200);
      }
    }
  });

  it("is not looked for in the query", async () => {
    const reply = await served.send(`/api/books?authorization=${encodeURIComponent(apikey("ci"))}`);
    expect(outcome(reply)).toEqual([401, "authentication_required"]);
  });
});

describeServed("a credential that was good", (serve) => {
  it("is refused as expired when a key's time is over, and not a second before", async () => {
    const clock = manualClock((expiresAt - 60) * 1000);
    const served = await serve(shop, { clock });
    const as = apikey("temporary");
    clock.advance(59_999);
    expect((await served.send("/api/books", { as })).status).toBe(200);
    clock.advance(1);
    const reply = await served.send("/api/books", { as });
    expect(outcome(reply)).toEqual([401, "token_expired"]);
    expect(reply.headers["www-authenticate"]).toMatch(/^ApiKey realm=/);
    expect(outcome(await served.send("/api/open", { as }))).toEqual([401, "token_expired"]);
  });

  it("stops at once when the key is removed or replaced, and a new one works at once", async () => {
    const served = await serve(shop);
    expect((await served.send("/api/books", { as: apikey("ci") })).status).toBe(200);
    served.change(withoutKey("ci"));
    expect(outcome(await served.send("/api/books", { as: apikey("ci") }))).toEqual([401, "invalid_credentials"]);
    served.change(withKey("ci", { key: "jp_second" }));
    expect(outcome(await served.send("/api/books", { as: apikey("ci") }))).toEqual([401, "invalid_credentials"]);
    expect((await served.send("/api/books", { as: "apikey jp_second" })).status).toBe(200);
  });

  it("carries the role and access of now: a key's change works on its next request", async () => {
    const served = await serve(shop);
    const create = () => served.send("/api/books", { method: "POST", body: {}, as: apikey("ci") });
    expect((await create()).status).toBe(201);
    served.change(withKey("ci", { access: "Read" }));
    expect(outcome(await create())).toEqual([403, "insufficient_access"]);
    served.change(withKey("ci"));
    expect((await create()).status).toBe(201);
  });

  it("is no good in a project made anew under the old name", async () => {
    const served = await serve(shop);
    const { access_token, refresh_token } = await login(served, "alice");
    expect((await served.send("/api/books", { as: bearer(access_token) })).status).toBe(200);
    served.change(withConfig({ uid: "another" }));
    expect(outcome(await served.send("/api/books", { as: bearer(access_token) }))).toEqual([
      401,
      "invalid_credentials",
    ]);
    const refreshed = await served.send("/sessions/refresh", { method: "POST", as: bearer(refresh_token) });
    expect(outcome(refreshed)).toEqual([401, "invalid_credentials"]);
  });
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
