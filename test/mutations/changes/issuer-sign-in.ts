// Faults of how pages sign people in at external issuers.

import type { Mutation } from "../mutation.ts";

const authorization = "pages/sign-in/authorization.ts";
const chooseToken = "pages/sign-in/choose-token.ts";
const responses = "test/unit/pages/sign-in/authorization.test.ts";
const tokens = "test/unit/pages/sign-in/choose-token.test.ts";
const offers = "test/unit/dataplane/openapi/sign-in-offers.test.ts";
const browser = "test/process/issuer-sign-in.test.ts";

export const issuerSignInMutations: readonly Mutation[] = [
  {
    name: "issuer-state-unchecked",
    harm: "A link signs a person in as somebody else, who then reads what the person writes",
    file: authorization,
    find: '!isOnly(pending.state, parameters.getAll("state"))',
    replace: "parameters.getAll('state').length > 1",
    caughtBy: [responses],
  },
  {
    name: "issuer-that-does-not-name-itself",
    harm: "An answer that does not say whose it is counts, though its issuer's always do: another issuer's code is sent there",
    file: authorization,
    find: "(named.length > 0 || issuer.alwaysSendsIss)",
    replace: "named.length > 0",
    caughtBy: [responses],
  },
  {
    name: "issuer-by-its-name-alone",
    harm: "An issuer that got the name of another one is sent the other one's codes and refresh tokens",
    file: "pages/sign-in/offered-issuer.ts",
    find: "name === identity?.name && url === identity.url",
    replace: "name === identity?.name && url !== ''",
    caughtBy: [responses],
  },
  {
    name: "issuer-of-response-unchecked",
    harm: "One issuer of a project gets codes of another, and signs in with them",
    file: authorization,
    find: "if ((named.length > 0 || issuer.alwaysSendsIss) && !isOnly(issuer.url, named)) {",
    replace: "if (named.length > 1) {",
    caughtBy: [responses],
  },
  {
    name: "issuer-challenge-is-the-verifier",
    harm: "Who sees the way to the issuer can redeem the code that comes back",
    file: authorization,
    find: "code_challenge: await challengeOf(pending.verifier)",
    replace: "code_challenge: pending.verifier",
    caughtBy: [responses],
  },
  {
    name: "issuer-nonce-unchecked",
    harm: "A code of another sign-in, put into this one, signs a person in as somebody else",
    file: chooseToken,
    find: "claimsOf(identity)?.nonce !== nonce",
    replace: "claimsOf(identity) === nonce",
    caughtBy: [tokens],
  },
  {
    name: "issuer-token-of-any-audience",
    harm: "A page hands the API tokens that are for other services, and people read a refusal without what to set",
    file: chooseToken,
    find: "audiences.some((taken) => taken === each)",
    replace: "audiences.length > 0",
    caughtBy: [tokens],
  },
  {
    name: "issuer-response-left-in-the-address",
    harm: "The code is in the browser's history, and a reload signs in with it again",
    file: "pages/sign-in/issuer-sign-in.ts",
    find: 'history.replaceState(history.state, "", ',
    replace: "String(",
    caughtBy: [browser],
  },
  {
    name: "issuer-secrets-left-in-the-browser",
    harm: "Verifier, state and nonce stay in the browser's storage, for the next response",
    file: "pages/sign-in/issuer-sign-in.ts",
    find: "  sessionStorage.removeItem(storageKey);\n  const parameters",
    replace: "  const parameters",
    caughtBy: [browser],
  },
  {
    name: "page-may-reach-more-than-the-issuer",
    harm: "An issuer's discovery document puts directives of its own into the policy of a project's pages",
    file: "pages/sign-in/offered-issuer.ts",
    find: "origins.test(origin) ?",
    replace: "origin.length > 0 ?",
    caughtBy: [offers],
  },
  {
    name: "page-may-not-reach-the-issuer",
    harm: "Nobody can sign in at an issuer: the page's policy keeps it from the token endpoint",
    file: "dataplane/openapi/sign-in-offers.ts",
    find: "usable.flatMap(({ tokenEndpoint }) => safeOriginOf(tokenEndpoint) ?? [])",
    replace: "usable.flatMap(({ authorizationEndpoint }) => safeOriginOf(authorizationEndpoint) ?? [])",
    caughtBy: [offers, "test/http/console.test.ts"],
  },
  {
    name: "page-of-issuers-can-be-ended",
    harm: "A client id writes HTML into a project's pages",
    file: "dataplane/openapi/sign-in-offers.ts",
    find: '.replaceAll("<", "\\\\u003c")',
    replace: "",
    caughtBy: ["test/http/console.test.ts"],
  },
];
