// What a login takes and answers, and that whatever is wrong with one is refused in one and the
// same way.

import { beforeAll, describe, expect, it } from "vitest";
import { login, outcome } from "../support/http/api-calls.ts";
import { send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  bearer,
  keyOf,
  passwordOf,
  project,
  withAuthenticationDisabled,
  withHosts,
  withKey,
  withResource,
  withServing,
  withSessions,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const shop = project(
  "shop",
  withUser("alice"),
  withUser("colon", { password: "a:b:c:" }),
  // As it is hashed from a Secret that ends with two newlines.
  withUser("newline", { password: "two lines\n" }),
  withUser("jürgen", { password: "pässwörd 😀" }),
  withUser("with blank", { password: " leading and trailing " }),
  withKey("ci"),
  withResource("books"),
);

describeServedOnBothStores("a login", (serve) => {
  const clock = manualClock(1_760_000_000_000);
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop, { clock, trustedProxies: ["127.0.0.1"] });
  });
  const post = (as?: string, more: { body?: unknown; headers?: Record<string, string> } = {}) =>
    served.send("/sessions/", { method: "POST", ...(as !== undefined && { as }), ...more });

  it("answers 201 with two tokens, the session's id and a message, never to be cached", async () => {
    const reply = await post(basic("alice"));
    expect(reply.status).toBe(201);
    expect(reply.json()).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refresh_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      message: "Successfully logged in",
    });
    expect(reply.headers["cache-control"]).toBe("no-store");
  });

  it("says in Location where the session is", async () => {
    const reply = await post(basic("alice"));
    const { session_id, access_token } = reply.json<{ session_id: string; access_token: string }>();
    expect(reply.headers.location).toBe(`${served.origin}${served.base}/sessions/${session_id}`);
    const path = reply.headers.location?.slice(served.origin.length) ?? "";
    expect((await send(served.origin, path, { as: bearer(access_token) })).json().id).toBe(session_id);
  });

  it("works with and without a trailing slash", async () => {
    expect((await served.send("/sessions", { method: "POST", as: basic("alice") })).status).toBe(201);
    expect((await served.send("/sessions//", { method: "POST", as: basic("alice") })).code).toBe("invalid_path");
  });

  it("ignores body and content type", async () => {
    for (const [body, type] of [
      ["{not json", "application/json"],
      ["<login/>", "application/xml"],
      ["x".repeat(2_000_000), "application/octet-stream"],
      [undefined, "application/json"],
      [{ username: "bob", password: "x" }, "application/json"],
    ] as const) {
      const reply = await post(basic("alice"), { body, headers: { "content-type": type } });
      expect(reply.status).toBe(201);
    }
  });

  it.each(["basic", "BASIC", "bAsIc"])("takes the scheme as %s", async (scheme) => {
    expect((await post(basic("alice").replace("Basic", scheme))).status).toBe(201);
  });

  it("takes base64 without its padding, as some clients send it", async () => {
    const padded = basic("alice");
    expect(padded).toMatch(/=$/);
    expect((await post(padded.replace(/=+$/, ""))).status).toBe(201);
  });

  it("opens a session of its own each time", async () => {
    const [one, two] = [await login(served, "alice"), await login(served, "alice")];
    expect(one.session_id).not.toBe(two.session_id);
    for (const { access_token } of [one, two]) {
      expect((await served.send("/api/books", { as: bearer(access_token) })).status).toBe(200);
    }
  });

  it.each([
    ["colons, of which the first ends the user name", "colon", "a:b:c:"],
    ["letters beyond ASCII in name and password", "jürgen", "pässwörd 😀"],
    ["blanks in name and password", "with blank", " leading and trailing "],
    ["one final newline too many, as echo adds it", "alice", `${passwordOf("alice")}\n`],
    ["two final newlines of its own, of which hashing and login drop the last", "newline", "two lines\n\n"],
  ])("takes a password with %s", async (_what, username, password) => {
    expect((await post(basic(username, password))).status).toBe(201);
  });

  const refused: readonly (readonly [string, () => string])[] = [
    ["a wrong password", () => basic("alice", "wrong")],
    ["an empty password", () => basic("alice", "")],
    ["a newline as the password", () => basic("alice", "\n")],
    ["two newlines too many", () => basic("alice", `${passwordOf("alice")}\n\n`)],
    ["a carriage return too many", () => basic("alice", `${passwordOf("alice")}\r\n`)],
    ["a blank too many", () => basic("alice", `${passwordOf("alice")} `)],
    ["a password in another case", () => basic("alice", passwordOf("alice").toUpperCase())],
    ["a password cut short", () => basic("alice", passwordOf("alice").slice(0, -1))],
    ["a NUL and more behind the password", () => basic("alice", `${passwordOf("alice")}\0x`)],
    ["the hash in place of the password", () => basic("alice", shop.users.get("alice")?.passwordHash ?? "")],
    ["an unknown user", () => basic("mallory", passwordOf("alice"))],
    ["a user name in another case", () => basic("Alice", passwordOf("alice"))],
    ["a user name with a newline", () => basic("alice\n", passwordOf("alice"))],
    ["a user name with a NUL", () => basic("alice\0", passwordOf("alice"))],
    ["an empty user name", () => basic("", passwordOf("alice"))],
    ["an inherited name", () => basic("__proto__", "x")],
    ["another inherited name", () => basic("constructor", "x")],
    ["an API key's name and key", () => basic("ci", keyOf("ci"))],
    ["a user name of 300 bytes", () => basic("a".repeat(300), "x")],
    ["a password of 2,000 bytes", () => basic("alice", "x".repeat(2_000))],
    ["no colon", () => `Basic ${Buffer.from("alice").toString("base64")}`],
    ["nothing encoded", () => "Basic"],
    ["an empty encoding", () => "Basic "],
    ["no base64", () => "Basic alice:password"],
    ["base64 for URLs", () => `Basic ${Buffer.from("al?ce:~~~>>>").toString("base64url")}`],
    ["base64 with bits left over", () => "Basic YTpiYR"],
    ["base64 and more behind it", () => `${basic("alice")}; realm=x`],
    ["bytes that are no UTF-8", () => `Basic ${Buffer.from([0x61, 0x3a, 0xff, 0xfe]).toString("base64")}`],
    ["an overlong encoding of a letter", () => `Basic ${Buffer.from([0xc1, 0xa1, 0x3a, 0x61]).toString("base64")}`],
    ["another scheme", () => "Digest username=alice"],
    ["an API key", () => apikey("ci")],
    ["an empty header", () => ""],
    ["20,000 characters of base64", () => `Basic ${"QUFB".repeat(5_000)}`],
  ];

  describe("is refused for", () => {
    let refusals = 0;
    it.each(refused)("%s", async (_what, header) => {
      // Each from an address of its own, so that none is throttled.
      refusals += 1;
      const headers = { "x-request-id": "same", "x-forwarded-for": `192.0.2.${refusals}` };
      const reply = await post(header(), { headers });
      expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
      expect(reply.headers["www-authenticate"]).toBe(`Basic realm="${served.namespace}/shop", charset="UTF-8"`);
      // One and the same body, byte for byte: nobody reads what was wrong.
      const other = await post("Basic nonsense", { headers });
      expect(reply.text).toBe(other.text);
    });

    it("a user of another project", async () => {
      const rival = project("rival", withUser("bob"));
      const both = await serve([rival, shop]);
      expect(outcome(await both.send("/sessions", { method: "POST", as: basic("alice") }))).toEqual([
        401,
        "invalid_credentials",
      ]);
    });
  });

  it("without a header hears that one is needed", async () => {
    const reply = await post();
    expect(outcome(reply)).toEqual([401, "authentication_required"]);
    expect(reply.headers["www-authenticate"]).toMatch(/^Basic realm=/);
  });

  it("answers access tokens with the documented header and claims, and neither role nor access", async () => {
    const { access_token, session_id } = await login(served, "alice");
    const [header, payload] = access_token.split(".", 2).map(decoded);
    expect(header).toEqual({ alg: "EdDSA", kid: shop.signing.keys[0]?.kid, typ: "JWT" });
    expect(payload).toEqual({
      token_use: "access",
      iss: served.base,
      aud: shop.project.uid,
      sub: "alice",
      sid: session_id,
      jti: expect.any(String),
      iat: 1_760_000_000,
      exp: 1_760_000_300,
      cv: shop.users.get("alice")?.credentialRevision,
    });
  });

  it("answers refresh tokens of 72 hours with an audience of their own", async () => {
    const { refresh_token, session_id } = await login(served, "alice");
    const [header, payload] = refresh_token.split(".", 2).map(decoded);
    expect(header).toMatchObject({ alg: "EdDSA" });
    expect(payload).toEqual({
      token_use: "refresh",
      iss: served.base,
      aud: `${shop.project.uid}/refresh`,
      sub: "alice",
      sid: session_id,
      jti: expect.any(String),
      iat: 1_760_000_000,
      exp: 1_760_000_000 + 72 * 3600,
      cv: shop.users.get("alice")?.credentialRevision,
    });
  });

  it("never shows a password or its hash again, in answers, sessions or the log", async () => {
    const { access_token, session_id } = await login(served, "alice");
    await post(basic("alice", "a wrong one"));
    const shown = [
      (await served.send(`/sessions/${session_id}`, { as: bearer(access_token) })).text,
      (await served.send("/sessions", { as: bearer(access_token) })).text,
      served.log(),
    ].join("\n");
    expect(shown).toContain(session_id);
    for (const secret of [passwordOf("alice"), "a wrong one", "argon2", basic("alice").slice(6), access_token]) {
      expect(shown).not.toContain(secret);
    }
  });
});

describeServed("a login by way of a project's host", (serve) => {
  it("makes tokens of the same issuer, which work at both addresses", async () => {
    const hosted = project("hosted", withHosts("api.shop.test"), withUser("alice"), withResource("books"));
    const served = await serve(hosted, { publicUrl: "https://api.test" });
    const headers = { host: "api.shop.test" };
    const reply = await send(served.origin, "/sessions", { method: "POST", as: basic("alice"), headers });
    const { access_token, session_id } = reply.json<{ access_token: string; session_id: string }>();
    expect(reply.headers.location).toBe(`https://api.shop.test/sessions/${session_id}`);
    expect(decoded(access_token.split(".")[1] ?? "").iss).toBe(`https://api.test${served.base}`);
    expect((await send(served.origin, "/api/books", { as: bearer(access_token), headers })).status).toBe(200);
    expect((await served.send("/api/books", { as: bearer(access_token) })).status).toBe(200);
  });
});

describeServed("a login where the project", (serve) => {
  it("has other lifetimes makes tokens of these", async () => {
    const served = await serve(
      project("short", withUser("alice"), withSessions({ accessTokenSeconds: 60, refreshTokenSeconds: 3600 })),
    );
    const { access_token, refresh_token } = await login(served, "alice");
    const lifeOf = (token: string) => {
      const { iat, exp } = decoded(token.split(".")[1] ?? "") as { iat: number; exp: number };
      return exp - iat;
    };
    expect([lifeOf(access_token), lifeOf(refresh_token)]).toEqual([60, 3600]);
  });

  it("has authentication disabled, or is read-only, works as ever", async () => {
    const served = await serve(shop);
    served.change(withAuthenticationDisabled());
    expect((await login(served, "alice")).message).toBe("Successfully logged in");
    served.change(withServing("ReadOnly"));
    expect((await login(served, "alice")).message).toBe("Successfully logged in");
  });
});

function decoded(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
}
