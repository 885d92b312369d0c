// Faults of what decides who may do what: authorization, credentials, sessions.

import type { Mutation } from "../mutation.ts";

const authorize = "dataplane/authorize/authorize.ts";
const authorizeTests = "test/unit/dataplane/authorize/authorize.test.ts";
const ownership = "test/http/ownership.test.ts";

/** One fault, which tests of three kinds notice each by themselves. */
const noOwnerScopes = {
  file: authorize,
  find: `return scope === "All" ? everything : { owner: ownerOf(caller) };`,
  replace: `return scope === "All" || caller ? everything : { owner: ownerOf(caller) };`,
};

export const accessMutations: readonly Mutation[] = [
  {
    name: "owner-scopes-ignored",
    harm: "Users read and change each other's objects",
    ...noOwnerScopes,
    caughtBy: [authorizeTests],
  },
  {
    name: "owner-scopes-ignored-over-http",
    harm: "Users read and change each other's objects",
    ...noOwnerScopes,
    caughtBy: [ownership],
  },
  {
    name: "owner-scopes-ignored-under-fuzz",
    harm: "The fuzzer sees users read each other's objects and says nothing",
    ...noOwnerScopes,
    caughtBy: ["test/security/fuzz.test.ts"],
  },
  {
    name: "read-scope-ignored",
    harm: "Users read each other's objects",
    file: authorize,
    find: "return { visible: mayRead ? within(resource.scope.read, caller) : writable, writable };",
    replace: "return { visible: everything, writable };",
    caughtBy: [authorizeTests, ownership],
  },
  {
    name: "candidates-of-everyone",
    harm: "A filter that an index narrows shows an owner the objects of others",
    file: "dataplane/store/redis/keyset-pages.ts",
    find: "rangeScripts.candidates({ keys, set: setOf(keys, index, owner), version, ranges, max }),",
    replace:
      "rangeScripts.candidates({ keys, set: keys.index(index.slot), version, ranges: wholeRanges(rangesOf(query), undefined), max }),",
    caughtBy: ["test/store/redis-store.test.ts"],
  },
  {
    name: "access-read-may-write",
    harm: "A caller with access Read writes",
    file: authorize,
    find: `if (operation !== "read" && caller.access !== "Write") return "read access";`,
    replace: `if (operation === "delete" && caller.access !== "Write") return "read access";`,
    caughtBy: [authorizeTests],
  },
  {
    name: "any-role-is-administrator",
    harm: "Every user may do what is for Administrators",
    file: authorize,
    find: `permission === "Administrators" && caller.role !== "Administrators" ? "role"`,
    replace: `permission === "Administrators" && caller.role === undefined ? "role"`,
    caughtBy: [authorizeTests],
  },
  {
    name: "update-without-read",
    harm: "Whoever may update and not read is shown the object",
    file: authorize,
    find: `if (operation === "update") requirePermission(project, resource.access.read, "read", caller);\n`,
    replace: "",
    caughtBy: [authorizeTests],
  },
  {
    name: "expired-key-works",
    harm: "An API key works after its expiresAt",
    file: "dataplane/authenticate/create-authentication.ts",
    find: "if (config.expiresAt !== undefined && clock.now() >= config.expiresAt * 1000) throw keyExpired(project.config);\n",
    replace: "",
    caughtBy: ["test/unit/dataplane/authenticate/verify-key.test.ts"],
  },
  {
    name: "remembered-key-outlives-its-removal",
    harm: "A removed API key works on a replica that has seen it",
    file: "dataplane/authenticate/create-authentication.ts",
    find: "const found = directory.key(project, credential.sha256);",
    replace:
      'const found = credential.live ? ({ outcome: "found", value: credential.live.config } as const) : directory.key(project, credential.sha256);',
    caughtBy: ["test/unit/dataplane/authenticate/verify-key.test.ts"],
  },
  {
    name: "token-outlives-its-password",
    harm: "Access tokens work after their user's password was changed",
    file: "dataplane/authenticate/create-authentication.ts",
    find: "config === undefined || config.credentialRevision !== cv || ended.has(sid)",
    replace: "config === undefined || ended.has(sid)",
    caughtBy: ["test/unit/dataplane/authenticate/verify-access-token.test.ts"],
  },
  {
    name: "token-outlives-its-session",
    harm: "Access tokens work after logout",
    file: "dataplane/authenticate/create-authentication.ts",
    find: "config === undefined || config.credentialRevision !== cv || ended.has(sid)",
    replace: "config === undefined || config.credentialRevision !== cv",
    caughtBy: ["test/unit/dataplane/authenticate/verify-access-token.test.ts"],
  },
  {
    name: "refused-end-carried-out-later",
    harm: "The store says that the end of a session was refused and had no effect, and ends it within the hour",
    file: "dataplane/store/redis/session-revocations.ts",
    find: "if (!(failure instanceof StoreUnavailable)) remember();",
    replace: "remember();",
    caughtBy: ["test/store/redis-lost-revocations.test.ts"],
  },
  {
    name: "ended-sessions-not-told",
    harm: "After a logout the access token goes on working on the other replicas",
    file: "dataplane/store/redis/scripts/revoke-session-2.lua",
    find: `redis.call("XADD", stream,`,
    replace: "local _ = ({",
    caughtBy: ["test/store/redis-ended-sessions.test.ts"],
  },
  {
    name: "told-ends-told-again-and-again",
    harm: "Every replica hears of each ended session anew every five seconds",
    file: "dataplane/store/redis/session-revocations.ts",
    find: "    revocationWrite.in = history;\n",
    replace: "",
    caughtBy: ["test/store/redis-lost-revocations.test.ts"],
  },
  {
    name: "one-node-refuses-for-all",
    harm: "A node of a Cluster that refuses writes keeps other nodes from being told, and uses up their hour of refreshes",
    file: "dataplane/sessions/create-sessions.ts",
    find: "keeperOf: store.sessionKeeper",
    replace: 'keeperOf: () => ""',
    caughtBy: ["test/http/one-node-refuses.test.ts"],
  },
  {
    name: "silent-node-holds-up-unfinished-writes",
    harm: "While a node of a Cluster does not answer, the others are not told which sessions have ended",
    file: "dataplane/sessions/unfinished-writes.ts",
    find: "tasks.start(keeper, ",
    replace: 'tasks.start("", ',
    caughtBy: ["test/unit/dataplane/sessions/unfinished-writes.test.ts"],
  },
  {
    name: "refused-count-refuses-the-write",
    harm: "A node of a Cluster that refuses writes closes open forms whose data are on another one",
    file: "dataplane/admission/local-buckets.ts",
    find: "if (!(error instanceof WritesRefused)) throw error;",
    replace: "if (error) throw error;",
    caughtBy: ["test/http/one-node-refuses.test.ts"],
  },
  {
    name: "refresh-after-password-change",
    harm: "A refresh token works after its user's password was changed",
    file: "dataplane/sessions/open-session.ts",
    find: "if (user?.credentialRevision !== claims.cv) throw invalidRefreshToken(project.config);\n",
    replace: "",
    caughtBy: ["test/unit/dataplane/sessions/open-session.test.ts"],
  },
  {
    name: "token-of-another-use",
    harm: "A refresh token, which lives for days, opens the API",
    file: "dataplane/authenticate/tokens.ts",
    find: "if (payload === undefined || payload.token_use !== use) return undefined;\n      if (payload.iss !== issuerOf(project) || payload.aud !== audienceOf(project, use)) return undefined;",
    replace: "if (payload === undefined) return undefined;",
    caughtBy: ["test/http/forged-tokens.test.ts"],
  },
  {
    name: "sealed-value-moves",
    harm: "Whoever can write to Redis gives one project the credentials of another",
    file: "core/config/seal.ts",
    find: "if (protectedHeader[name] !== value) throw",
    replace: "if (protectedHeader[name] === undefined) throw",
    caughtBy: ["test/unit/core/config/seal.test.ts"],
  },
  {
    name: "failed-logins-cost-nothing",
    harm: "Passwords can be guessed without limit",
    file: "dataplane/sessions/open-session.ts",
    find: "    await deps.throttle.spend(attempt);\n",
    replace: "",
    caughtBy: ["test/unit/dataplane/sessions/open-session.test.ts"],
  },
];
