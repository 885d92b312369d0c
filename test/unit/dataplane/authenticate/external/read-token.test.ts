// Whatever somebody sends as a token: it is read or refused with a sentence, and nothing but the
// token itself proves its caller.

import fc from "fast-check";
import { expect, test } from "vitest";
import { readToken } from "../../../../../dataplane/authenticate/external/read-token.ts";
import { parseAuthorization } from "../../../../../dataplane/authenticate/parse-authorization.ts";
import { authenticationSetup, refusalOf } from "../../../../support/http/authentication.ts";
import { keyPair, testIssuer, withIssuer } from "../../../../support/http/external-issuer.ts";
import { bearer, project } from "../../../../support/http/projects.ts";
import { sessionStore } from "../../../../support/store/session-store.ts";
import { manualClock } from "../../../../support/time/manual-clock.ts";
import { testSeed } from "../../../../support/time/test-tier.ts";

const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url");
const part = fc.oneof(
  fc.json({ maxDepth: 3 }).map(base64url),
  fc.uint8Array({ minLength: 1, maxLength: 60 }).map(base64url),
  fc.constantFrom(base64url('{"alg":"ES256"}'), base64url('{"alg":"RS256","kid":"__proto__","crit":null}')),
);

test("any text of the form of a token is read, or refused with a sentence", () => {
  fc.assert(
    fc.property(part, part, (header, claims) => {
      const read = readToken(`${header}.${claims}.AAAA`);
      if (typeof read === "string") expect(read).toMatch(/^[A-Z].*[^.]$/);
      else expect(typeof read.claims).toBe("object");
    }),
    { seed: testSeed() },
  );
});

test("a token of which any one character is another, left out or doubled proves nobody", async () => {
  const clock = manualClock();
  const keys = [keyPair("ed", "EdDSA"), keyPair("es"), keyPair("rs", "RS256")];
  const corp = testIssuer("corp", { keysAreFetched: false }, keys);
  const shop = project("shop", withIssuer(corp));
  const { authentication, live } = await authenticationSetup({
    store: await sessionStore(clock),
    projects: [shop],
    clock,
  });
  const tokens = keys.map((key) => corp.token({}, { key }));
  for (const token of tokens) await authentication.callerOf(live(), bearer(token));
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  const change = fc.record({
    token: fc.constantFrom(...tokens),
    at: fc.nat({ max: 2_000 }),
    put: fc.constantFrom(...letters, "", "AA"),
  });
  await fc.assert(
    fc.asyncProperty(change, async ({ token, at, put }) => {
      const index = at % token.length;
      const changed = token.slice(0, index) + put + token.slice(index + 1);
      fc.pre(changed !== token);
      const { code } = await refusalOf(() => authentication.callerOf(live(), bearer(changed)));
      expect(code).toBe("invalid_credentials");
    }),
    { numRuns: 300, seed: testSeed() },
  );
});

test("a header of eight kibibytes is taken apart in one go, whatever stands in it", () => {
  for (const each of ["a", "a.", "a.b.", "-_", "AAAA."]) {
    const text = each.repeat(Math.floor(8_180 / each.length));
    expect(["token", "malformed"]).toContain(parseAuthorization(`bearer ${text}`).kind);
    expect(["token", "malformed"]).toContain(parseAuthorization(`bearer a.b.${text}`.slice(0, 8_192)).kind);
  }
});
