// Faults of what decides whom a token of an external issuer proves to call.

import type { Mutation } from "../mutation.ts";

const tests = "test/unit/dataplane/authenticate/external/external-tokens.test.ts";
const grants = "test/unit/dataplane/authenticate/external/grant.test.ts";
const waits = "test/unit/dataplane/authenticate/external/key-waits.test.ts";
const http = "test/http/external-issuers.test.ts";
const plans = "test/http/kept-plans.test.ts";
const folder = "dataplane/authenticate/external";
const grant = `${folder}/grant.ts`;
const externalTokens = `${folder}/external-tokens.ts`;
const issuerKeys = `${folder}/issuer-keys.ts`;
const keyWaits = `${folder}/key-waits.ts`;
const readToken = `${folder}/read-token.ts`;

export const externalIssuerMutations: readonly Mutation[] = [
  {
    name: "external-audience-ignored",
    harm: "A token that its issuer made for another service is taken here, so that each service may act as its users everywhere",
    file: grant,
    find: "  if (hasAudience(issuer, claims)) return undefined;",
    replace: "  if (claims) return undefined;",
    caughtBy: [tests, http],
  },
  {
    name: "external-issuer-by-prefix",
    harm: "Whoever has a URL that begins with the issuer's proves any of its callers",
    file: externalTokens,
    find: 'typeof iss === "string" ? project.issuers.get(iss) : undefined;',
    replace: "[...project.issuers.values()].find(({ url }) => String(iss).startsWith(url));",
    caughtBy: [tests],
  },
  {
    name: "external-expiry-by-two-minutes",
    harm: "Expired tokens work longer than the docs say",
    file: grant,
    find: "validUntil: (exp + skewSeconds)",
    replace: "validUntil: (exp + 2 * skewSeconds)",
    caughtBy: [tests, plans],
  },
  {
    name: "external-expiry-not-needed",
    harm: "A token without an expiry works for ever",
    file: grant,
    find: 'if (exp === undefined) return "The token has no claim exp: only tokens that expire are accepted";',
    replace: "if (exp === undefined) return { validFrom: 0, validUntil: Number.POSITIVE_INFINITY };",
    caughtBy: [tests],
  },
  {
    name: "external-not-before-ignored",
    harm: "A token works before its issuer lets it",
    file: grant,
    find: "Math.max(nbf, iat)",
    replace: "iat",
    caughtBy: [tests],
  },
  {
    name: "external-issued-at-ignored",
    harm: "A token from the future works, by whatever clock it was made",
    file: grant,
    find: "Math.max(nbf, iat)",
    replace: "nbf",
    caughtBy: [tests],
  },
  {
    name: "external-algorithm-of-key-ignored",
    harm: "A key verifies by another algorithm than the one that its issuer uses it for",
    file: issuerKeys,
    find: "key.algorithms.includes(algorithm) ? importOnce(key) : undefined",
    replace: "importOnce(key)",
    caughtBy: [tests],
  },
  {
    name: "external-key-of-another-type",
    harm: "A request whose token names a key of another type ends with 500, and a short RSA key verifies",
    file: issuerKeys,
    find: "usable !== undefined && fits(usable, algorithm) ? [usable] : []",
    replace: "usable !== undefined ? [usable] : []",
    caughtBy: [tests],
  },
  {
    name: "external-key-id-ignored",
    harm: "A token is checked with a key that it does not name",
    file: issuerKeys,
    find: "kid === undefined || key.kid === kid",
    replace: "kid !== null || key.kid === kid",
    caughtBy: [tests],
  },
  {
    name: "external-signature-unchecked",
    harm: "Everybody can write tokens",
    file: externalTokens,
    find: "    await requireSignature(project, text, { ...token, key });\n",
    replace: "",
    caughtBy: [tests],
  },
  {
    name: "external-unchecked-algorithm",
    harm: "The algorithm of a token is left to a library, that of shared secrets included",
    file: readToken,
    find: 'return typeof value === "string" && knownAlgorithms.has(value);',
    replace: 'return typeof value === "string";',
    caughtBy: [tests],
  },
  {
    name: "external-critical-headers-ignored",
    harm: "A token whose headers say that its claims are read in another way is taken all the same",
    file: readToken,
    find: 'if (Object.hasOwn(header, "crit") || Object.hasOwn(header, "b64")) {',
    replace: 'if (header["crit"] === "none") {',
    caughtBy: [tests],
  },
  {
    name: "external-duplicate-claims",
    harm: "A token with two subjects is read as one caller here, and as another elsewhere",
    file: readToken,
    find: "const value = read.ok ? parseJson(read.json.text) : undefined;",
    replace:
      'const value = read.ok ? parseJson(read.json.text) : JSON.parse(Buffer.from(part, "base64url").toString());',
    caughtBy: [tests],
  },
  {
    name: "external-username-unlimited",
    harm: "Names of callers that are longer than the docs say are stored with each object",
    file: grant,
    find: "Buffer.byteLength(value) <= maxUsernameBytes",
    replace: "value.length <= maxUsernameBytes",
    caughtBy: [tests],
  },
  {
    name: "external-control-characters",
    harm: "A caller whose name has the separator of stored indexes reaches objects of others",
    file: grant,
    find: " || controlCharacter.test(value)) return false;",
    replace: ") return false;",
    caughtBy: [tests],
  },
  {
    name: "external-service-accounts-unlisted",
    harm: "Every Pod of the cluster is let in",
    file: grant,
    find: "return listed && { role: listed.role, access: listed.access };",
    replace: 'return { role: listed?.role ?? "Users", access: listed?.access ?? access };',
    caughtBy: [grants],
  },
  {
    name: "external-claim-rules-ignored",
    harm: "Callers are let in whose claims the project does not want, such as an e-mail address that is not verified",
    file: grant,
    find: "const failed = claimRules.find(",
    replace: "const failed = claimRules.slice(1).find(",
    caughtBy: [grants, plans],
  },
  {
    name: "external-administrators-by-part",
    harm: "A caller in the group not-staff is an administrator",
    file: grant,
    find: "valuesOf(claims, claim).includes(contains)",
    replace: "valuesOf(claims, claim).some((value) => String(value).includes(contains))",
    caughtBy: [grants],
  },
  {
    name: "external-grant-outlives-configuration",
    harm: "A removed issuer, a narrower access or a withdrawn key does not act on tokens that were used before",
    file: externalTokens,
    find: "known !== undefined && project.issuers.get(known.issuer.url) === known.issuer",
    replace: "known !== undefined && known.issuer",
    caughtBy: [tests, http],
  },
  {
    name: "external-refused-tokens-remembered",
    harm: "Tokens that are refused push out those that callers use",
    file: externalTokens,
    find: "    inTime(project, grant);\n    verified.set",
    replace: "    verified.set",
    caughtBy: [tests],
  },
  {
    name: "external-token-of-many-texts",
    harm: "One token has many texts, each of which takes memory of its own",
    file: "dataplane/authenticate/parse-authorization.ts",
    find: "(?:[\\w-][AQgw]|[\\w-]{2}[AEIMQUYcgkosw048])?$/;",
    replace: "[\\w-]{0,3}$/;",
    caughtBy: [tests],
  },
  {
    name: "external-owner-without-issuer",
    harm: "Callers of one name at two issuers reach each other's objects",
    file: "dataplane/authenticate/caller.ts",
    find: 'case "external":\n',
    replace: 'case "external":\n      if (caller) return caller.username;\n',
    caughtBy: [tests, http],
  },
  {
    name: "external-key-wanted-again-and-again",
    harm: "Whoever sends tokens with made-up key ids makes the operator fetch without end",
    file: keyWaits,
    find: "monotonic() - known.since < betweenWantsMs",
    replace: "monotonic() - known.since < waitMs",
    caughtBy: [waits],
  },
  {
    name: "external-key-wait-unbounded",
    harm: "Requests with made-up key ids wait in any number",
    file: keyWaits,
    find: " || known.waiters.size >= maxWaiting",
    replace: "",
    caughtBy: [waits],
  },
  {
    name: "external-keys-wanted-by-the-heartbeat",
    harm: "The operator learns seconds late of a key that is lacking, when those who wait for it have been refused",
    file: "dataplane/config/acknowledge.ts",
    find: "      wanted.add(keys);\n      sendSoon();\n",
    replace: "      wanted.add(keys);\n",
    caughtBy: ["test/store/wanted-keys.test.ts"],
  },
  {
    name: "external-key-never-seen",
    harm: "When an issuer changes its keys, requests are refused although the new key came in time",
    file: keyWaits,
    find: "queueMicrotask(() => void lookFor(wait, waiter));",
    replace: "queueMicrotask(() => undefined);",
    caughtBy: [waits],
  },
];
