// A Project with external issuers, compiled: what is published of them, and what is said of the
// Project.

import { expect } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import type { KnownIssuer } from "../../../../operator/model/issuers.ts";
import { type CompileCase, runCompileCase } from "./compile-case.ts";

export const url = "https://login.example.org/realms/main";
export const one = [{ kid: "one", algorithms: ["ES256"] as const, jwk: { kty: "EC" } }];
export const two = [{ kid: "two", algorithms: ["ES256"] as const, jwk: { kty: "EC" } }];
export const endpoints = {
  authorizationEndpoint: "https://login.example.org/a",
  tokenEndpoint: "https://login.example.org/t",
  alwaysSendsIss: true,
};
/** As it is published before its keys were fetched. */
export const withoutKeys = { url, keysAreFetched: true, keys: [] };
export const known = (keys: typeof one, more: object = {}): KnownIssuer => ({
  state: "known",
  content: { url, keys, endpoints },
  ...more,
});
export const corp = (more: JsonObject = {}, issuer: JsonObject = {}) => ({
  name: "corp",
  issuer: { url, audiences: ["shop"], ...issuer },
  ...more,
});
export const project = (issuers: readonly object[], spec: JsonObject = {}): JsonObject =>
  ({
    kind: "Project",
    metadata: { name: "shop" },
    spec: { authentication: { issuers }, ...spec },
  }) as unknown as JsonObject;

interface Compiled {
  /** By name; undefined = the Project has none. */
  readonly issuers: Readonly<Record<string, { readonly keys: unknown }>> | undefined;
  readonly verdict: unknown;
}

export function compiled(given: Partial<CompileCase>): Compiled {
  const result = runCompileCase({ shows: "", objects: [], ...given })["default/shop"] as {
    readonly config: { readonly issuers?: Compiled["issuers"] };
    readonly verdicts: Readonly<Record<string, unknown>>;
  };
  return { issuers: result.config.issuers, verdict: result.verdicts["Project default/shop"] };
}

export const refused = (reason: string, message: string | RegExp, pointer: string) => ({
  accepted: false,
  reason,
  faults: [{ message: expect.stringMatching(message), pointer: `/spec/authentication/issuers/0${pointer}` }],
  live: true,
  partly: true,
});
export const before = { before: [project([corp()])], fetchedBefore: { [url]: known(one) } };
