// Which tokens of external issuers prove a caller, and what is said of the others.

import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { IssuerConfig } from "../../../../../core/config/types.ts";
import { signatureAlgorithms } from "../../../../../core/issuers/algorithms.ts";
import { creatorOf, logMembersOf, ownerOf } from "../../../../../dataplane/authenticate/caller.ts";
import { authenticationSetup, refusalOf } from "../../../../support/http/authentication.ts";
import {
  type Claims,
  keyPair,
  now,
  signedWithPublicKey,
  type TokenOptions,
  testIssuer,
  withIssuer,
  withoutIssuer,
} from "../../../../support/http/external-issuer.ts";
import { accessToken } from "../../../../support/http/forge-token.ts";
import {
  basic,
  bearer,
  changed,
  project,
  withAuthenticationDisabled,
  withUser,
} from "../../../../support/http/projects.ts";
import { sessionStore } from "../../../../support/store/session-store.ts";
import { manualClock } from "../../../../support/time/manual-clock.ts";

/** With an Ed25519 key, so that some of its tokens have the form of this service's own. */
const [es, ed, rs] = [keyPair("es"), keyPair("ed", "EdDSA"), keyPair("rs", "RS256")];
const corp = testIssuer("corp", { keysAreFetched: false }, [es, ed, rs]);
const neighbour = testIssuer("neighbour");
const plain = project("shop", withUser("ada"));
const ada = { kind: "external", issuer: "corp", username: "ada", role: "Users", access: "Write" };

async function setupWith(changes: Partial<IssuerConfig> = {}, options: { readonly maxVerified?: number } = {}) {
  const clock = manualClock();
  const shop = changed(plain, withIssuer(corp, changes));
  const made = await authenticationSetup({ store: await sessionStore(clock), projects: [shop], clock, ...options });
  const ask = async (token: string) => await made.authentication.callerOf(made.live(), bearer(token));
  const refusal = (token: string) => refusalOf(() => ask(token));
  return { ...made, shop, ask, refusal };
}

describe("a token of an external issuer", () => {
  test.each(signatureAlgorithms.map((algorithm) => [algorithm]))(
    "that is signed by %s proves its caller",
    async (algorithm) => {
      const key = keyPair("k", algorithm);
      const { ask } = await setupWith({ keys: [key.published] });
      expect(await ask(corp.token({}, { key }))).toEqual(ada);
    },
  );

  test("is verified once while its issuer is the same, then answers without a promise", async () => {
    const { authentication, ask, live, memory, shop } = await setupWith();
    const token = corp.token();
    const caller = await ask(token);
    expect(authentication.callerOf(live(), bearer(token))).toBe(caller);
    memory.put(shop);
    expect(authentication.callerOf(live(), bearer(token))).toBe(caller);
    memory.put(changed(shop, withIssuer(corp, { access: "Read" })));
    expect(authentication.callerOf(live(), bearer(token))).toBeInstanceOf(Promise);
    expect(await ask(token)).toEqual({ ...ada, access: "Read" });
  });

  test("that was verified is refused once its issuer is gone, or has other keys, audiences or rules", async () => {
    const { ask, refusal, memory, shop } = await setupWith();
    const token = corp.token();
    await ask(token);
    const refused = [
      withoutIssuer("corp"),
      withIssuer(corp, { keys: [ed.published] }),
      withIssuer(corp, { audiences: ["other"] }),
      withIssuer(corp, { claimRules: [{ claim: "email_verified", requiredValue: "true" }] }),
      withIssuer(corp, { url: "https://corp.example/" }),
    ];
    for (const modifier of refused) {
      memory.put(changed(shop, modifier));
      expect((await refusal(token)).code).toBe("invalid_credentials");
      memory.put(shop);
      expect(await ask(token)).toEqual(ada);
    }
  });

  test("makes an owner that no other kind of caller, and no caller of another issuer, can be", async () => {
    const { ask } = await setupWith();
    const caller = await ask(corp.token({ sub: "a/b" }));
    expect(creatorOf(caller)).toBe("corp/a/b");
    expect(ownerOf(caller)).toBe("external:corp/a/b");
    expect(logMembersOf(caller)).toBe(',"caller":"external:corp/a/b"');
  });

  test("may name its caller by another claim, and its audience in an array", async () => {
    const { ask } = await setupWith({ usernameClaim: "email" });
    const claims = { sub: undefined, email: "ada@example.org", aud: ["other", "shop"], jti: "x", nested: { a: [1] } };
    expect(await ask(corp.token(claims))).toEqual({ ...ada, username: "ada@example.org" });
  });

  test("may come without a key id where one key fits its algorithm, and from an access token of RFC 9068", async () => {
    const { ask } = await setupWith();
    for (const key of [es, ed, rs]) expect(await ask(corp.token({}, { key, header: { kid: undefined } }))).toEqual(ada);
    for (const typ of ["at+jwt", "application/AT+jwt", "JWT", "application/jwt"]) {
      expect(await ask(corp.token({}, { header: { typ } }))).toEqual(ada);
    }
    expect(await ask(corp.token({}, { header: { typ: "JWT", jwk: neighbour.config.keys[0]?.jwk } }))).toEqual(ada);
  });

  test("of the length that fits proves its caller, of nine kibibytes does not", async () => {
    const { ask, refusal } = await setupWith();
    expect(await ask(corp.token({ more: "x".repeat(5_500) }))).toEqual(ada);
    expect((await refusal(corp.token({ more: "x".repeat(6_600) }))).code).toBe("invalid_credentials");
  });

  test("has to be a signed one of that length, which its refusal says; a project without issuers says what it always does", async () => {
    const { refusal, memory, shop } = await setupWith();
    const form =
      "The token is not a signed JSON Web Token (three parts of base64url); opaque and encrypted tokens can't be verified";
    const size = "The token is too long: an Authorization header may not be longer than 8 KiB";
    const opaque = "2YotnFZFEjr1zCsicMWpAA";
    const encrypted = "eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d";
    const long = corp.token({ more: "x".repeat(6_600) });
    expect((await refusal(opaque)).message).toBe(form);
    expect((await refusal(encrypted)).message).toBe(form);
    expect((await refusal(long)).message).toBe(size);
    memory.put(changed(shop, withoutIssuer("corp"), withoutIssuer("neighbour")));
    for (const token of [opaque, encrypted, long]) {
      expect(await refusal(token)).toMatchObject({
        code: "invalid_credentials",
        message: expect.stringMatching(/^Send `Authorization: apikey <API_KEY>`/),
      });
    }
  });

  test("has one text: the unused bits of its signature's last character must be zeros", async () => {
    const { ask, refusal } = await setupWith();
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const key of [es, ed, rs]) {
      const token = corp.token({}, { key });
      const last = letters.indexOf(token.at(-1) as string);
      await ask(token);
      await refusal(token.slice(0, -1) + letters.charAt(last + 1));
      await refusal(`${token}=`);
    }
  });
});

describe("its times", () => {
  test.each<[string, Claims]>([
    ["expired 59 seconds ago", { exp: now - 59 }],
    ["expired 59.5 seconds ago", { exp: now - 59.5 }],
    ["is valid in 60 seconds", { nbf: now + 60 }],
    ["is made in 60 seconds", { iat: now + 60 }],
    ["does not say when it was made", { iat: undefined }],
  ])("may differ by clocks that are a minute apart: %s", async (_, claims) => {
    const { ask } = await setupWith();
    expect(await ask(corp.token(claims))).toEqual(ada);
  });

  test.each<[string, Claims, string]>([
    ["expired 61 seconds ago", { exp: now - 61 }, "token_expired"],
    ["expired 60 seconds ago", { exp: now - 60 }, "token_expired"],
    ["is valid in 61 seconds", { nbf: now + 61 }, "invalid_credentials"],
    ["is made in 61 seconds", { iat: now + 61 }, "invalid_credentials"],
    ["never expires", { exp: undefined }, "invalid_credentials"],
    ["expires at a text", { exp: `${now + 300}` }, "invalid_credentials"],
    ["is valid from null on", { nbf: null }, "invalid_credentials"],
    ["expires beyond all dates", { exp: 1e300 }, "invalid_credentials"],
  ])("are refused beyond that: %s", async (_, claims, code) => {
    const { refusal } = await setupWith();
    expect((await refusal(corp.token(claims))).code).toBe(code);
  });

  test("hold to the second for a token that was verified before", async () => {
    const { ask, refusal, authentication, live, clock } = await setupWith();
    const token = corp.token();
    await ask(token);
    const proof = await authentication.authenticate(live(), bearer(token));
    clock.advance(359_999);
    expect(authentication.holds(proof)).toBe(true);
    expect(await ask(token)).toEqual(ada);
    clock.advance(1);
    expect(authentication.holds(proof)).toBe(false);
    expect((await refusal(token)).message).toBe("The token has expired; get a new one from its issuer");
    clock.adjust(-420_001);
    expect(authentication.holds(proof)).toBe(false);
    expect((await refusal(token)).message).toContain("not valid yet");
  });
});

const wrongCurve = keyPair("es", "ES384");
const rightPayload = JSON.stringify({ iss: "https://corp.example", aud: "shop", sub: "ada", exp: now + 300 });
const duplicated = rightPayload.replace("{", '{"sub":"root",');

describe("a wrong token is refused with what is wrong", () => {
  test.each<[string, Claims, TokenOptions, string]>([
    ["without a signature's algorithm", {}, { header: { alg: "none" } }, "must be one of"],
    ["with a shared secret's algorithm", {}, { header: { alg: "HS256" } }, "must be one of"],
    ["with no algorithm", {}, { header: { alg: undefined } }, "must be one of"],
    ["with a name of objects as algorithm", {}, { header: { alg: "constructor" } }, "must be one of"],
    ["with another algorithm than its key's", {}, { header: { alg: "ES384" } }, "has no key"],
    ["with a key of the type of another algorithm", {}, { key: es, header: { alg: "RS256" } }, "has no key"],
    ["with another hash of its key's type", {}, { key: rs, header: { alg: "RS512" } }, "has no key"],
    ["by a key of another curve that has the same id", {}, { key: wrongCurve }, "has no key"],
    ["by another key that says it is the right one", {}, { key: { ...keyPair("es") } }, "signature is wrong"],
    ["by the key of another project's issuer", {}, { key: keyPair("neighbour-1") }, "has no key"],
    ["with a key id that is no text", {}, { header: { kid: 1 } }, "kid) must be a string"],
    ["with critical headers", {}, { header: { crit: ["exp"], exp: 1 } }, "crit"],
    ["with an unencoded payload", {}, { header: { b64: true } }, "b64"],
    ["that is nested", {}, { header: { cty: "JWT" } }, "Nested"],
    ["that is nested, as a whole media type", {}, { header: { cty: "application/jwt" } }, "Nested"],
    ["that proves another key", {}, { header: { typ: "application/dpop+JWT" } }, "for something else"],
    ["that logs out", {}, { header: { typ: "logout+jwt" } }, "for something else"],
    ["of an unknown issuer", { iss: "https://other.example" }, {}, "claim iss"],
    ["of the issuer with a trailing slash", { iss: "https://corp.example/" }, {}, "claim iss"],
    ["of the issuer in capitals", { iss: "https://CORP.example" }, {}, "claim iss"],
    ["of no issuer", { iss: undefined }, {}, "claim iss"],
    ["of several issuers", { iss: ["https://corp.example"] }, {}, "claim iss"],
    ["of a neighbour's issuer", { iss: neighbour.config.url }, {}, "claim iss"],
    ["for another audience", { aud: "other" }, {}, "audience"],
    ["for part of the audience", { aud: "shop/" }, {}, "audience"],
    ["for no audience", { aud: undefined }, {}, "audience"],
    ["for other audiences", { aud: ["a", ["shop"]] }, {}, "audience"],
    ["without a subject", { sub: undefined }, {}, "claim sub"],
    ["with an empty subject", { sub: "" }, {}, "claim sub"],
    ["with a number as subject", { sub: 7 }, {}, "claim sub"],
    ["with a control character in its subject", { sub: "a\u0000b" }, {}, "claim sub"],
    ["with a C1 control character in its subject", { sub: "a\u0085b" }, {}, "claim sub"],
    ["with a subject that turns its direction", { sub: "ada\u202e" }, {}, "invisible"],
    ["with a character of no width in its subject", { sub: "a\u200bda" }, {}, "invisible"],
    ["with a soft hyphen in its subject", { sub: "a\u00adda" }, {}, "invisible"],
    ["with a line separator in its subject", { sub: "ada\u2028" }, {}, "invisible"],
    ["with a filler in its subject", { sub: "ada\u3164" }, {}, "invisible"],
    ["with a subject of 257 bytes", { sub: `${"é".repeat(128)}x` }, {}, "claim sub"],
    ["with half a character in its subject", {}, { payload: rightPayload.replace("ada", "\\ud800") }, "JSON objects"],
    ["with two claims of one name", {}, { payload: duplicated }, "two members of one name"],
    [
      "with a second claim of the same name, escaped",
      {},
      { payload: duplicated.replace("sub", "s\\u0075b") },
      "two members",
    ],
    ["with claims that are no object", {}, { payload: `[${rightPayload}]` }, "JSON objects"],
    ["with claims that are no JSON", {}, { payload: `${rightPayload},` }, "JSON objects"],
    [
      "with claims that are nested a hundred times",
      { a: JSON.parse("[".repeat(100) + "]".repeat(100)) },
      {},
      "JSON objects",
    ],
  ])("%s", async (_, claims, options, what) => {
    const { refusal } = await setupWith();
    const { code, message, headers } = await refusal(corp.token(claims, options));
    expect(code).toBe("invalid_credentials");
    expect(message).toContain(what);
    expect(message).not.toContain("neighbour");
    expect(headers["WWW-Authenticate"]).toContain('error="invalid_token"');
  });

  test("with two headers of one name", async () => {
    const { refusal } = await setupWith();
    const [, ...rest] = corp.token().split(".");
    const header = Buffer.from('{"alg":"none","kid":"es","alg":"ES256"}').toString("base64url");
    expect((await refusal([header, ...rest].join("."))).message).toContain("two members of one name");
  });

  test("by the public key as a shared secret", async () => {
    const { refusal } = await setupWith();
    expect((await refusal(signedWithPublicKey(corp.token(), es.published.jwk))).code).toBe("invalid_credentials");
  });

  test("whose claims were changed after it was signed, also where the right one is remembered", async () => {
    const { ask, refusal } = await setupWith();
    const token = corp.token();
    await ask(token);
    const [header, , signature] = token.split(".");
    const claims = corp.token({ sub: "root" }).split(".")[1];
    expect((await refusal(`${header}.${claims}.${signature}`)).message).toBe("The token's signature is wrong");
  });

  test("by a key that has neither its id nor another's, of which several have one id", async () => {
    const [first, second, foreign] = [keyPair("same"), keyPair("same"), keyPair("same")];
    const { ask, refusal } = await setupWith({ keys: [first.published, second.published] });
    for (const key of [first, second]) expect(await ask(corp.token({}, { key }))).toEqual(ada);
    expect((await refusal(corp.token({}, { key: foreign }))).message).toBe("The token's signature is wrong");
  });

  test("without a key id where several keys fit", async () => {
    const { refusal } = await setupWith({ keys: [es.published, keyPair("other").published] });
    expect((await refusal(corp.token({}, { header: { kid: undefined } }))).message).toContain("has several");
  });

  test("of a key that can't be used, which counts as one that is not there", async () => {
    const small = generateKeyPairSync("rsa", { modulusLength: 1_024 });
    const jwk = small.publicKey.export({ format: "jwk" }) as Record<string, string>;
    const weak = { kid: "rs", algorithms: ["RS256" as const], jwk };
    const broken = { ...es.published, jwk: { kty: "EC", crv: "P-256", x: "AA", y: "AA" } };
    const otherCurve = { ...wrongCurve.published, kid: "curve", algorithms: ["ES256" as const] };
    const { refusal } = await setupWith({ keys: [weak, broken, otherCurve] });
    const token = corp.token({}, { key: { ...rs, privateKey: small.privateKey } });
    const curve = { ...wrongCurve, kid: "curve", algorithm: "ES256" } as const;
    for (const each of [token, corp.token(), corp.token({}, { key: curve })])
      expect((await refusal(each)).message).toContain("has no key");
  });

  test("and says nothing else than before where the project has no external issuer", async () => {
    const clock = manualClock();
    const made = await authenticationSetup({ store: await sessionStore(clock), projects: [plain], clock });
    const usual = await refusalOf(() => made.authentication.callerOf(made.live(), bearer("a.b.c")));
    for (const key of [es, ed, rs]) {
      expect(await refusalOf(() => made.authentication.callerOf(made.live(), bearer(corp.token({}, { key }))))).toEqual(
        usual,
      );
    }
  });

  test("also where authentication is disabled: it is never taken for no credential", async () => {
    const { memory, shop, refusal, ask } = await setupWith();
    memory.put(changed(shop, withAuthenticationDisabled()));
    expect(await ask(corp.token())).toEqual(ada);
    expect((await refusal(corp.token({ aud: "other" }))).code).toBe("invalid_credentials");
    memory.put(changed(plain, withAuthenticationDisabled()));
    expect((await refusal(corp.token())).code).toBe("invalid_credentials");
  });
});

test("tokens of the project's own logins prove their users beside external issuers, with either form of signature", async () => {
  const { sessions, live, ask, refusal, shop } = await setupWith();
  const login = await sessions.login(live(), basic("ada"), "192.0.2.7");
  expect(await ask(login.access_token)).toMatchObject({ kind: "user", name: "ada" });
  const issuer = "http://127.0.0.1:8080/default/shop";
  const foreign = accessToken({ project: plain, username: "ada", issuer: "https://corp.example", nowSeconds: now });
  expect((await refusal(foreign)).message).toContain("another audience");
  const claims = { iss: issuer, aud: shop.project.uid };
  for (const key of [es, ed]) expect((await refusal(corp.token(claims, { key }))).code).toBe("invalid_credentials");
});

test("an issuer that has the project's own URL proves nobody of its own", async () => {
  const { memory, shop, refusal } = await setupWith();
  const own = "http://127.0.0.1:8080/default/shop";
  memory.put(changed(shop, withIssuer(corp, { url: own })));
  expect((await refusal(corp.token({ iss: own }, { key: ed }))).message).toContain("Send `Authorization");
});

test("only so many are remembered", async () => {
  const { ask, authentication, live } = await setupWith({}, { maxVerified: 1 });
  const [one, other] = [corp.token(), corp.token({ sub: "bob" })];
  await ask(one);
  await ask(other);
  expect(authentication.callerOf(live(), bearer(other))).not.toBeInstanceOf(Promise);
  expect(await authentication.callerOf(live(), bearer(one))).toEqual(ada);
});

test("what is refused is not remembered", async () => {
  const { ask, refusal, authentication, live } = await setupWith({}, { maxVerified: 1 });
  const token = corp.token();
  await ask(token);
  for (const claims of [{ aud: "other" }, { exp: now - 100 }, { nbf: now + 100 }]) await refusal(corp.token(claims));
  expect(authentication.callerOf(live(), bearer(token))).not.toBeInstanceOf(Promise);
});

describe("a project that is sent many forged tokens", () => {
  const neighbours = changed(project("neighbours"), withIssuer(neighbour));

  /** As many come at once, and then one of another project. */
  async function crowd(count: number, algorithm: "ES256" | "ES512") {
    const [real, made] = [keyPair("k", algorithm), keyPair("k", algorithm)];
    const shop = changed(plain, withIssuer(corp, { keys: [real.published] }));
    const clock = manualClock();
    const setup = await authenticationSetup({ store: await sessionStore(clock), projects: [shop, neighbours], clock });
    const callerBy = (name: string, token: string) => setup.authentication.callerOf(setup.live(name), bearer(token));
    const tokens = Array.from({ length: count }, (_, n) => corp.token({ sub: `s${n}` }, { key: made }));
    const refusals = tokens.map((token) => refusalOf(() => callerBy("shop", token)));
    return { refusals, next: callerBy("neighbours", neighbour.token()) };
  }

  test("whose signatures take long to verify, delays no other project's", async () => {
    const { refusals, next } = await crowd(100, "ES512");
    let refused = 0;
    for (const refusal of refusals) void refusal.then(() => (refused += 1));
    expect(await next).toMatchObject({ issuer: "neighbour" });
    expect(refused).toBeLessThan(50);
    await Promise.all(refusals);
  });

  test("more than may wait, is told to try these again, and no other project is", async () => {
    const { refusals, next } = await crowd(1_050, "ES256");
    expect(await next).toMatchObject({ issuer: "neighbour" });
    const busy = (await Promise.all(refusals)).filter(({ code }) => code === "project_busy");
    // Two are being verified, and the neighbour's has pushed out one that waited.
    expect(busy).toHaveLength(49);
    expect(busy[0]).toMatchObject({ headers: { "Retry-After": "1" } });
  });
});
