import { createHmac, generateKeyPairSync } from "node:crypto";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import type { CompiledProject, SigningKey } from "../../../../core/config/types.ts";
import type { Directory } from "../../../../dataplane/config/directory.ts";
import { authenticationSetup, issuerOf, refusalOf } from "../../../support/http/authentication.ts";
import {
  accessClaims,
  accessToken,
  assembled,
  type Claims,
  signed,
  type TokenBasis,
} from "../../../support/http/forge-token.ts";
import {
  basic,
  bearer,
  changed,
  inNamespace,
  project,
  signingKey,
  withConfig,
  withKey,
  withoutUser,
  withSessions,
  withSigningKeys,
  withUser,
} from "../../../support/http/projects.ts";
import { breakable, sessionStore } from "../../../support/store/session-store.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const bookshop = project("bookshop", withUser("alice"), withUser("bob"), withKey("frontend"));
const address = "192.0.2.7";

async function setup(projects: readonly CompiledProject[] = [bookshop], directory?: (memory: Directory) => Directory) {
  const clock = manualClock();
  const broken = breakable(await sessionStore(clock));
  const options = { store: broken.store, projects, clock, ...(directory ? { directory } : {}) };
  const made = await authenticationSetup(options);
  const basis: TokenBasis = {
    project: projects[0] ?? bookshop,
    username: "alice",
    issuer: issuerOf(made.live()),
    nowSeconds: clock.now() / 1000,
  };
  const refusal = (token: string) => refusalOf(() => made.authentication.callerOf(made.live(), bearer(token)));
  return { ...made, store: broken, basis, refusal };
}

describe("an access token", () => {
  test("from a login proves its user, with the live role and access and the session", async () => {
    const { authentication, sessions, live } = await setup();
    const login = await sessions.login(live(), basic("alice"), address);
    expect(await authentication.callerOf(live(), bearer(login.access_token))).toEqual({
      kind: "user",
      name: "alice",
      role: "Users",
      access: "Write",
      sessionId: login.session_id,
    });
  });

  test("has the documented header and claims, and no role", async () => {
    const { authentication, sessions, live, clock } = await setup();
    const login = await sessions.login(live(), basic("alice"), address);
    const keys = createLocalJWKSet(authentication.jwks(live()) as unknown as JSONWebKeySet);
    const { payload, protectedHeader } = await jwtVerify(login.access_token, keys, {
      currentDate: new Date(clock.now()),
    });
    expect(protectedHeader).toEqual({ alg: "EdDSA", kid: bookshop.signing.keys[0]?.kid, typ: "JWT" });
    expect(payload).toEqual({
      token_use: "access",
      iss: "http://127.0.0.1:8080/default/bookshop",
      aud: bookshop.project.uid,
      sub: "alice",
      sid: login.session_id,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: clock.now() / 1000,
      exp: clock.now() / 1000 + 300,
      cv: bookshop.users.get("alice")?.credentialRevision,
    });
    expect(payload.jti).not.toBe(login.session_id);
  });

  test("that is repeated answers without a promise", async () => {
    const { authentication, live, basis } = await setup();
    const token = accessToken(basis);
    const first = await authentication.callerOf(live(), bearer(token));
    expect(authentication.callerOf(live(), bearer(token))).toEqual(first);
  });

  test("lasts five minutes to the second, cached or not, and then says so", async () => {
    const { authentication, live, clock, basis, refusal } = await setup();
    const [used, unused] = [accessToken(basis), accessToken(basis, { claims: { jti: "another" } })];
    clock.advance(299_999);
    await authentication.callerOf(live(), bearer(used));
    clock.advance(1);
    for (const token of [used, used, unused]) {
      const problem = await refusal(token);
      expect(problem.code).toBe("token_expired");
      expect(problem.headers["WWW-Authenticate"]).toBe(
        'Bearer realm="default/bookshop", error="invalid_token", error_description="The token has expired"',
      );
    }
  });

  test("lives no longer than the project says now, although it says more itself", async () => {
    const { authentication, live, memory, clock, basis, refusal } = await setup();
    const token = accessToken(basis, { claims: { exp: basis.nowSeconds + 3600 } });
    clock.advance(60_000);
    await authentication.callerOf(live(), bearer(token));
    memory.put(changed(bookshop, withSessions({ accessTokenSeconds: 60 })));
    expect((await refusal(token)).code).toBe("token_expired");
  });

  test("works while the store can't be reached: no request asks it", async () => {
    const { authentication, live, basis, store } = await setup();
    store.breakWith("unavailable");
    const token = accessToken(basis);
    for (let i = 0; i < 3; i += 1)
      expect(await authentication.callerOf(live(), bearer(token))).toMatchObject({ name: "alice" });
    expect([...store.calls.keys()]).toEqual(["followEndedSessions"]);
  });
});

describe("a token that this project did not make for this use is refused:", () => {
  const wrongClaims: Readonly<Record<string, Claims>> = {
    "a refresh token's use": { token_use: "refresh" },
    "no use": { token_use: undefined },
    "another issuer": { iss: "http://127.0.0.1:8080/default/library" },
    "no issuer": { iss: undefined },
    "another audience": { aud: "another-uid" },
    "the refresh audience": { aud: `${bookshop.project.uid}/refresh` },
    "a list of audiences": { aud: [bookshop.project.uid] },
    "no audience": { aud: undefined },
    "no subject": { sub: undefined },
    "an empty subject": { sub: "" },
    "a subject that is a number": { sub: 7 },
    "an unknown subject": { sub: "mallory" },
    "a subject named like a member of every object": { sub: "constructor" },
    "no session": { sid: undefined },
    "a session that is a list": { sid: ["x"] },
    "no revision": { cv: undefined },
    "another revision": { cv: "another" },
    "a revision that is null": { cv: null },
    "no token id": { jti: undefined },
    "no expiry": { exp: undefined },
    "an expiry that is text": { exp: "1760000300" },
    "an expiry that is no integer": { exp: 1_760_000_300.5 },
    "an expiry beyond exact integers": { exp: 2 ** 60 },
    "no time of issue": { iat: undefined },
    "a time of issue that is text": { iat: "1760000000" },
    "a start in the future": { nbf: 1_760_000_001 },
    "a start that is text": { nbf: "0" },
  };

  test.each(Object.entries(wrongClaims))("%s", async (_, claims) => {
    const { basis, refusal } = await setup();
    expect((await refusal(accessToken(basis, { claims }))).code).toBe("invalid_credentials");
  });

  test("another public URL's, which is said only where the signature is this project's", async () => {
    const { basis, refusal } = await setup();
    const elsewhere = accessToken(basis, { claims: { iss: "http://127.0.0.1:8081/default/bookshop" } });
    expect((await refusal(elsewhere)).message).toMatch(/^The token was issued under another public URL .*claim iss/);
    const forged = `${elsewhere.slice(0, -8)}AAAAAAAA`;
    expect((await refusal(forged)).message).toMatch(/^Send `Authorization: apikey/);
  });

  test("(the same claims, right, are taken, a start in the past included)", async () => {
    const { authentication, live, basis } = await setup();
    const token = accessToken(basis, { claims: { nbf: basis.nowSeconds } });
    expect(await authentication.callerOf(live(), bearer(token))).toMatchObject({ name: "alice" });
  });

  test("no algorithm, with an empty signature or none", async () => {
    const { basis, refusal } = await setup();
    const kid = bookshop.signing.keys[0]?.kid;
    for (const alg of ["none", "None", "NONE", ""]) {
      const token = assembled({ alg, kid }, accessClaims(basis), "");
      expect((await refusal(token)).code).toBe("invalid_credentials");
      expect((await refusal(`${token}AA`)).code).toBe("invalid_credentials");
    }
  });

  test("HS256 with the public key as the secret, in any form in which it is published", async () => {
    const { basis, refusal } = await setup();
    const key = bookshop.signing.keys[0];
    if (key === undefined) throw new Error("The ring is empty");
    for (const secret of [key.x, Buffer.from(key.x, "base64url")]) {
      const unsigned = assembled({ alg: "HS256", kid: key.kid }, accessClaims(basis), "").slice(0, -1);
      const token = `${unsigned}.${createHmac("sha256", secret).update(unsigned).digest("base64url")}`;
      expect((await refusal(token)).code).toBe("invalid_credentials");
    }
  });

  test("the newer name of the same algorithm, another algorithm, a key in the header", async () => {
    const { basis, refusal } = await setup();
    const own = bookshop.signing.keys[0];
    expect((await refusal(accessToken(basis, { header: { alg: "Ed25519" } }))).code).toBe("invalid_credentials");
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwk = publicKey.export({ format: "jwk" });
    const es256 = await new SignJWT(accessClaims(basis))
      .setProtectedHeader({ alg: "ES256", kid: own?.kid ?? "", jwk: jwk as never })
      .sign(privateKey);
    expect((await refusal(es256)).code).toBe("invalid_credentials");
    const foreign = signingKey({ kid: own?.kid ?? "" });
    const embedded = accessToken(basis, {
      key: foreign,
      header: { jwk: { kty: "OKP", crv: "Ed25519", x: foreign.x } },
    });
    expect((await refusal(embedded)).code).toBe("invalid_credentials");
  });

  test("a foreign key id, a key id of the ring on another's key, and none", async () => {
    const { basis, refusal } = await setup();
    const stranger = signingKey();
    const disguised = signingKey({ kid: bookshop.signing.keys[0]?.kid ?? "" });
    expect((await refusal(accessToken(basis, { key: stranger }))).code).toBe("invalid_credentials");
    expect((await refusal(accessToken(basis, { key: disguised }))).code).toBe("invalid_credentials");
    for (const kid of [undefined, null, 7, "", "__proto__"]) {
      expect((await refusal(accessToken(basis, { header: { kid } }))).code).toBe("invalid_credentials");
    }
  });

  test("a tampered payload, a tampered header, a tampered signature", async () => {
    const { basis, refusal } = await setup();
    const [header, , signature] = accessToken(basis).split(".");
    const payload = Buffer.from(JSON.stringify({ ...accessClaims(basis), sub: "bob" })).toString("base64url");
    expect((await refusal(`${header}.${payload}.${signature}`)).code).toBe("invalid_credentials");
    const right = accessToken(basis);
    const other = accessToken(basis, { claims: { jti: "other" } });
    expect((await refusal([...right.split(".").slice(0, 2), other.split(".")[2]].join("."))).code).toBe(
      "invalid_credentials",
    );
    const critical = accessToken(basis, { header: { crit: ["exp"], exp: 1 } });
    expect((await refusal(critical)).code).toBe("invalid_credentials");
  });

  test.each(["not JSON", "null", "[]", '"text"', "7", "", "{", "\u0000"])(
    "a signed payload that is %j",
    async (payload) => {
      const { basis, refusal } = await setup();
      expect((await refusal(signed(basis.project, payload))).code).toBe("invalid_credentials");
    },
  );

  test("a text that is far too long", async () => {
    const { basis, refusal } = await setup();
    const long = accessToken(basis, { claims: { padding: "x".repeat(20_000) } });
    expect((await refusal(long)).code).toBe("invalid_credentials");
    expect((await refusal("a".repeat(1 << 20))).code).toBe("invalid_credentials");
  });

  test("a token of another project, even one with the same ring and the same users", async () => {
    const twin = changed(bookshop, inNamespace("other"), withConfig({ uid: "another-uid" }));
    const { authentication, live, basis, memory } = await setup([bookshop, twin]);
    const token = bearer(accessToken(basis));
    await authentication.callerOf(live(), token);
    const other = memory.directory.project({ namespace: "other", name: "bookshop" });
    if (other instanceof Promise || other.outcome !== "found") throw new Error("The other project is not live");
    expect(other.value.signing).toBe(live().signing);
    expect((await refusalOf(() => authentication.callerOf(other.value, token))).code).toBe("invalid_credentials");
  });

  test("a token of the project that stood under this name before", async () => {
    const { authentication, live, basis, memory, refusal } = await setup();
    const token = accessToken(basis);
    await authentication.callerOf(live(), bearer(token));
    memory.put(changed(bookshop, withConfig({ uid: "made-anew" })));
    expect((await refusal(token)).code).toBe("invalid_credentials");
  });

  test("a refresh token of a real session", async () => {
    const { sessions, live, refusal } = await setup();
    const login = await sessions.login(live(), basic("alice"), address);
    const problem = await refusal(login.refresh_token);
    expect(problem.code).toBe("invalid_credentials");
    expect(problem.headers["WWW-Authenticate"]).toContain('error="invalid_token"');
  });
});

describe("what changes in the project works on the next request with a used token:", () => {
  test("the user's role and access", async () => {
    const { authentication, live, basis, memory } = await setup();
    const token = bearer(accessToken(basis));
    await authentication.callerOf(live(), token);
    memory.put(changed(bookshop, withUser("alice", { role: "Administrators", access: "Read" })));
    expect(await authentication.callerOf(live(), token)).toMatchObject({ role: "Administrators", access: "Read" });
  });

  test("a removed user, until the same one is back", async () => {
    const { authentication, live, basis, memory, refusal } = await setup();
    const token = accessToken(basis);
    await authentication.callerOf(live(), bearer(token));
    memory.put(changed(bookshop, withoutUser("alice")));
    expect((await refusal(token)).code).toBe("invalid_credentials");
    memory.put(bookshop);
    expect(await authentication.callerOf(live(), bearer(token))).toMatchObject({ name: "alice" });
  });

  test("a changed password", async () => {
    const { authentication, live, basis, memory, refusal } = await setup();
    const token = accessToken(basis);
    await authentication.callerOf(live(), bearer(token));
    memory.put(changed(bookshop, withUser("alice", { password: "another" })));
    expect((await refusal(token)).code).toBe("invalid_credentials");
  });

  test("a key that left the ring; one that only stopped signing still verifies", async () => {
    const { authentication, sessions, live, basis, memory, refusal } = await setup();
    const old = bookshop.signing.keys[0] as SigningKey;
    const next = signingKey();
    const token = accessToken(basis);
    await authentication.callerOf(live(), bearer(token));
    memory.put(changed(bookshop, withSigningKeys({ ...old, signs: false }, next)));
    expect(await authentication.callerOf(live(), bearer(token))).toMatchObject({ name: "alice" });
    const login = await sessions.login(live(), basic("alice"), address);
    expect(JSON.parse(Buffer.from(login.access_token.split(".")[0] ?? "", "base64url").toString()).kid).toBe(next.kid);
    memory.put(changed(bookshop, withSigningKeys(next)));
    expect((await refusal(token)).code).toBe("invalid_credentials");
    expect(await authentication.callerOf(live(), bearer(login.access_token))).toMatchObject({ name: "alice" });
  });

  test("but not an ended session of another user", async () => {
    const { authentication, sessions, live } = await setup();
    const alice = await sessions.login(live(), basic("alice"), address);
    const bob = await sessions.login(live(), basic("bob"), address);
    const caller = await authentication.callerOf(live(), bearer(alice.access_token));
    await sessions.endSession(live(), caller, alice.session_id);
    expect((await refusalOf(() => authentication.callerOf(live(), bearer(alice.access_token)))).code).toBe(
      "invalid_credentials",
    );
    expect(await authentication.callerOf(live(), bearer(bob.access_token))).toMatchObject({ name: "bob" });
  });
});

test("a directory that can't answer is a 503 and never a 401, and the token is not forgotten", async () => {
  let answers = true;
  const { authentication, live, basis, refusal } = await setup([bookshop], (memory) => ({
    ...memory,
    user: async (...args) => (answers ? memory.user(...args) : { outcome: "unavailable" }),
  }));
  const token = accessToken(basis);
  await authentication.callerOf(live(), bearer(token));
  answers = false;
  expect((await refusal(token)).code).toBe("project_unavailable");
  expect((await refusal(accessToken(basis, { claims: { jti: "new" } }))).code).toBe("project_unavailable");
  answers = true;
  expect(await authentication.callerOf(live(), bearer(token))).toMatchObject({ name: "alice" });
});

test("the published keys are the public halves only", async () => {
  const { authentication, live } = await setup();
  const key = bookshop.signing.keys[0];
  expect(authentication.jwks(live())).toEqual({
    keys: [{ kty: "OKP", crv: "Ed25519", kid: key?.kid, alg: "EdDSA", use: "sig", x: key?.x }],
  });
});
