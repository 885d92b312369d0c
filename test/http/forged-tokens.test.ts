// Tokens that were not made by this project for this use, and that nobody may get in with.

import { createHmac, generateKeyPairSync } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { login, make, outcome } from "../support/http/api-calls.ts";
import {
  accessClaims,
  accessToken,
  assembled,
  type Claims,
  signed,
  type TokenBasis,
} from "../support/http/forge-token.ts";
import {
  apikey,
  bearer,
  project,
  signingKey,
  withKey,
  withResource,
  withSigningKeys,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";
import { type ManualClock, manualClock } from "../support/time/manual-clock.ts";

const shop = project("shop", withKey("ci"), withUser("alice"), withResource("books"));
const foreignKey = signingKey();

describeServed("a token", (serve) => {
  let clock: ManualClock;
  let served: Served;
  let basis: TokenBasis;
  let tokens: { readonly access_token: string; readonly refresh_token: string; readonly session_id: string };
  beforeEach(async () => {
    clock = manualClock();
    served = await serve(shop, { clock });
    tokens = await login(served, "alice");
    basis = {
      project: served.change(),
      username: "alice",
      issuer: served.base,
      nowSeconds: clock.now() / 1000,
      sessionId: tokens.session_id,
    };
  });
  const ask = (token: string) => served.send("/api/books", { as: bearer(token) });
  const claimsOf = (token: string): Claims =>
    JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Claims;
  const kid = () => basis.project.signing.keys[0]?.kid ?? "";
  const refreshClaims = (): Claims => claimsOf(tokens.refresh_token);

  /**
   * The forger below makes good tokens when nothing is forged, or the refusals would prove nothing.
   */
  it("that is made as the service makes it is taken", async () => {
    expect((await ask(accessToken(basis))).status).toBe(200);
    const refresh = signed(basis.project, JSON.stringify(refreshClaims()));
    expect((await served.send("/sessions/refresh", { method: "POST", as: bearer(refresh) })).status).toBe(200);
  });

  const forged: Readonly<Record<string, () => string>> = {
    "of alg none without a signature": () => assembled({ alg: "none" }, accessClaims(basis), ""),
    "of alg none with any signature": () => assembled({ alg: "none", kid: kid() }, accessClaims(basis), "x"),
    "of alg NONE under the real signature": () => {
      const [, payload, signature] = accessToken(basis).split(".");
      return `${Buffer.from(`{"alg":"NONE","kid":"${kid()}"}`).toString("base64url")}.${payload}.${signature}`;
    },
    "of HS256 with the public key as its secret": () => {
      const head = Buffer.from(JSON.stringify({ alg: "HS256", kid: kid() })).toString("base64url");
      const text = `${head}.${Buffer.from(JSON.stringify(accessClaims(basis))).toString("base64url")}`;
      const secret = Buffer.from(basis.project.signing.keys[0]?.x ?? "", "base64url");
      return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
    },
    "of a foreign key under a foreign kid": () => accessToken(basis, { key: foreignKey }),
    "of a foreign key under our kid": () => accessToken(basis, { key: { ...foreignKey, kid: kid() } }),
    "without a kid": () => accessToken(basis, { header: { kid: undefined } }),
    "with a kid that is a path": () => accessToken(basis, { header: { kid: "../../etc/passwd" } }),
    "with a kid that is an inherited name": () => accessToken(basis, { header: { kid: "constructor" } }),
    "with a kid that is no text": () => accessToken(basis, { header: { kid: { $ne: 1 } } }),
    "that brings its own key": () => {
      const jwk = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
      return accessToken(basis, { key: foreignKey, header: { jwk, jku: "http://evil.test/keys" } });
    },
    "with a critical extension": () => accessToken(basis, { header: { crit: ["exp"], exp: 1 } }),
    "with a changed payload": () => {
      const [head, , signature] = tokens.access_token.split(".");
      const payload = JSON.stringify({ ...claimsOf(tokens.access_token), sub: "admin" });
      return `${head}.${Buffer.from(payload).toString("base64url")}.${signature}`;
    },
    "with a signature cut short": () => tokens.access_token.slice(0, -4),
    "with the signature of another token": () => {
      const [head, payload] = tokens.access_token.split(".");
      return `${head}.${payload}.${tokens.refresh_token.split(".")[2]}`;
    },
    "that is a refresh token": () => tokens.refresh_token,
    "for refreshing, with our audience": () => accessToken(basis, { claims: { token_use: "refresh" } }),
    "of no use": () => accessToken(basis, { claims: { token_use: undefined } }),
    "for another audience": () => accessToken(basis, { claims: { aud: "another" } }),
    "for several audiences": () => accessToken(basis, { claims: { aud: [basis.project.project.uid, "another"] } }),
    "of another issuer": () => accessToken(basis, { claims: { iss: `${served.base}x` } }),
    "of a user who does not exist": () => accessToken(basis, { claims: { sub: "nobody" } }),
    "of an inherited name as its user": () => accessToken(basis, { claims: { sub: "constructor" } }),
    "of another revision of the password": () => accessToken(basis, { claims: { cv: "older" } }),
    "without a revision": () => accessToken(basis, { claims: { cv: undefined } }),
    "without a session": () => accessToken(basis, { claims: { sid: undefined } }),
    "that never expires": () => accessToken(basis, { claims: { exp: undefined } }),
    "whose expiry is a text": () => accessToken(basis, { claims: { exp: String(basis.nowSeconds + 300) } }),
    "that is not valid yet": () => accessToken(basis, { claims: { nbf: basis.nowSeconds + 60 } }),
    "whose payload is no object": () => signed(basis.project, '["access"]'),
    "whose payload is no JSON": () => signed(basis.project, "{"),
  };

  describe("is refused when it is one", () => {
    it.each(Object.keys(forged))("%s", async (name) => {
      const reply = await ask(forged[name]?.() ?? "");
      expect(outcome(reply)).toEqual([401, "invalid_credentials"]);
      expect(reply.headers["www-authenticate"]).toContain("Bearer realm=");
      expect((await ask(tokens.access_token)).status).toBe(200);
      expect((await make(served, "books", {}, apikey("ci")))._metadata.creator).toBe("ci");
    });
  });

  it("is refused for refreshing when it is any of these, an access token, or a refresh token of another session or key", async () => {
    const wrong: Readonly<Record<string, () => string>> = {
      ...forged,
      "that is a refresh token": () => tokens.access_token,
      "that is an access token with the audience of the other": () =>
        accessToken(basis, { claims: { aud: `${basis.project.project.uid}/refresh` } }),
      "that is a refresh token of a session that never was": () =>
        signed(basis.project, JSON.stringify({ ...refreshClaims(), sid: "0197f6a0-0000-4000-8000-00000000000f" })),
      "that is a refresh token of another key": () =>
        signed(basis.project, JSON.stringify(refreshClaims()), { key: foreignKey }),
    };
    for (const [name, forge] of Object.entries(wrong)) {
      const reply = await served.send("/sessions/refresh", { method: "POST", as: bearer(forge()) });
      expect([name, ...outcome(reply)]).toEqual([name, 401, "invalid_credentials"]);
      expect(reply.headers["www-authenticate"]).toContain("Bearer realm=");
    }
    const good = await served.send("/sessions/refresh", { method: "POST", as: bearer(tokens.refresh_token) });
    expect(good.status).toBe(200);
  });

  it("lives no longer than the project's setting of now says, whatever it claims itself", async () => {
    const long = accessToken(basis, { claims: { exp: basis.nowSeconds + 1_000_000 } });
    expect((await ask(long)).status).toBe(200);
    clock.advance(300_000);
    expect(outcome(await ask(long))).toEqual([401, "token_expired"]);
  });

  it("of a key that left the ring is refused, of one that only verifies is taken", async () => {
    const [old] = basis.project.signing.keys;
    if (old === undefined) throw new Error("The project has a key");
    served.change(withSigningKeys(signingKey(), { ...old, signs: false }));
    expect((await ask(tokens.access_token)).status).toBe(200);
    served.change(withSigningKeys(signingKey()));
    expect(outcome(await ask(tokens.access_token))).toEqual([401, "invalid_credentials"]);
  });
});

describeServed("a project's keys", (serve) => {
  it("are public at /.well-known/jwks.json, without their private halves, whatever header comes along", async () => {
    const served = await serve(shop);
    for (const as of [undefined, "apikey wrong", "nonsense"]) {
      const reply = await served.send("/.well-known/jwks.json", as === undefined ? {} : { as });
      expect(reply.status).toBe(200);
      const [key] = shop.signing.keys;
      expect(reply.json()).toEqual({
        keys: [{ kty: "OKP", crv: "Ed25519", kid: key?.kid, alg: "EdDSA", use: "sig", x: key?.x }],
      });
      expect(reply.text).not.toContain(key?.d);
    }
  });

  it("change without anybody being logged out: the first that signs makes new tokens, old ones still verify", async () => {
    const served = await serve(shop);
    const before = await login(served, "alice");
    const [old] = shop.signing.keys;
    if (old === undefined) throw new Error("The project has a key");
    const next = signingKey();
    served.change(withSigningKeys({ ...old, signs: false }, next));
    const after = await login(served, "alice");
    const kidOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).kid;
    expect([kidOf(before.access_token), kidOf(after.access_token)]).toEqual([old.kid, next.kid]);
    for (const { access_token } of [before, after]) {
      expect((await served.send("/api/books", { as: bearer(access_token) })).status).toBe(200);
    }
    const refreshed = await served.send("/sessions/refresh", { method: "POST", as: bearer(before.refresh_token) });
    expect(kidOf(refreshed.json<{ access_token: string }>().access_token)).toBe(next.kid);
    const { keys } = (await served.send("/.well-known/jwks.json")).json<{ keys: { kid: string }[] }>();
    expect(keys.map((key) => key.kid)).toEqual([old.kid, next.kid]);
  });
});
