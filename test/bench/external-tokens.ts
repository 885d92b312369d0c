// Measures what a token of an external issuer costs when it is seen for the first time: it is read, its signature is checked, and its claims
// are. From then on it is remembered, and costs what a session's token costs.

import { systemClock } from "../../core/clock.ts";
import type { SignatureAlgorithm } from "../../core/issuers/algorithms.ts";
import { createAuthentication } from "../../dataplane/authenticate/create-authentication.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { keyPair, type TestIssuer, testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import { bearer, project } from "../support/http/projects.ts";

const tokens = 500;
const algorithms = ["ES256", "RS256", "EdDSA"] as const satisfies readonly SignatureAlgorithm[];

/** Microseconds of CPU time, of all threads; the first half of the tokens warms up. */
export type FirstSights = Readonly<Record<(typeof algorithms)[number], number>>;

export async function measureFirstSights(): Promise<FirstSights> {
  const keys = algorithms.map((algorithm) => keyPair(algorithm, algorithm));
  const issuer = testIssuer("corp", {}, keys);
  const memory = createMemoryDirectory(systemClock);
  memory.replace([project("bench", withIssuer(issuer))]);
  const found = await memory.directory.project({ namespace: "default", name: "bench" });
  if (found.outcome !== "found") throw new Error("The benchmark's project is not live");
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const { directory } = memory;
  const issuerOf = () => "";
  const authentication = await createAuthentication({ directory, store, clock: systemClock, issuerOf });
  const costs: [string, number][] = [];
  for (const key of keys) {
    const made = Array.from({ length: 2 * tokens }, (_, n) => bearer(freshToken(issuer, { sub: `caller-${n}` }, key)));
    for (const header of made.slice(0, tokens)) await authentication.authenticate(found.value, header);
    const before = process.cpuUsage();
    for (const header of made.slice(tokens)) await authentication.authenticate(found.value, header);
    const { user, system } = process.cpuUsage(before);
    costs.push([key.algorithm, (user + system) / tokens]);
  }
  await authentication.close();
  await store.close();
  return Object.fromEntries(costs) as FirstSights;
}

/** Valid for a day by the clock of the machine. */
export function freshToken(
  issuer: TestIssuer,
  claims: Readonly<Record<string, unknown>>,
  key?: ReturnType<typeof keyPair>,
): string {
  const iat = Math.floor(systemClock.now() / 1_000);
  return issuer.token({ iat, exp: iat + 86_400, ...claims }, key === undefined ? {} : { key });
}
