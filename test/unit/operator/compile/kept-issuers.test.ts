// What stays of the issuers that were published while a newer version of their Project can't be
// served.

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { publicJwk } from "../../../support/oidc/issuer-server.ts";
import { before, compiled, corp, known, one, project, two, url } from "./issuer-case.ts";

it("an issuer that a Project no longer names is taken away, even if the rest of its new spec is refused", () => {
  const spec = { sessions: { accessTokenTTL: "never" } };
  const { issuers, verdict } = compiled({ ...before, objects: [project([], spec)] });
  expect(verdict).toMatchObject({ reason: "InvalidSpec", live: true });
  expect(issuers).toBeUndefined();
});

describe("an issuer is served as the Project says now, although the rest of its new spec is refused", () => {
  const broken = { sessions: { accessTokenTTL: "never" } };
  const now = (former: object, issuer: object) =>
    compiled({ ...before, before: [project([former])], objects: [project([issuer], broken)] }).issuers;
  const staff = { claim: "groups", contains: "staff" };
  const verified = { claim: "email_verified", requiredValue: "true" };

  it("with less audiences, access and administrators, more rules, and a new issuer", () => {
    const former = corp({ access: "Write", administrators: [staff] }, { audiences: ["shop", "old"] });
    const narrowed = corp({ access: "Read", claimValidationRules: [verified] });
    const kept = { audiences: ["shop"], access: "Read", administrators: [], claimRules: [verified], keys: one };
    expect(now(former, narrowed)?.["corp"]).toMatchObject(kept);
    expect(now(former, { ...corp(), name: "company" })).toMatchObject({ company: { keys: one } });
  });

  it("without a key that was in the manifest, or that is not among those that the manifest has now", () => {
    const jwks = (...kids: readonly string[]) => ({
      jwks: JSON.stringify({ keys: kids.map((kid) => publicJwk(kid)) }),
    });
    expect(now(corp({}, jwks("a", "b")), corp({}, jwks("b")))?.["corp"]).toMatchObject({ keys: [{ kid: "b" }] });
    expect(now(corp({}, jwks("a")), corp())?.["corp"]).toMatchObject({ keys: [] });
    expect(now(corp(), corp({}, jwks("b")))?.["corp"]).toMatchObject({ keys: [{ kid: "b" }] });
    expect(now(corp({}, jwks("a")), corp({}, { jwks: "{}" }))?.["corp"]).toMatchObject({ keys: [{ kid: "a" }] });
  });

  it("with the ServiceAccounts that it lists", () => {
    const cluster = (...serviceAccounts: readonly object[]) => ({
      ...{ name: "cluster", kubernetes: {}, issuer: { audiences: ["jsonplane"] }, serviceAccounts },
    });
    const account = (name: string, access: string) => ({ namespace: "jobs", name, role: "Users", access });
    const fetchedBefore = { cluster: { state: "known", content: { url, keys: one } } } as const;
    const { issuers } = compiled({
      before: [project([cluster(account("importer", "Write"), account("gone", "Write"))])],
      fetchedBefore,
      objects: [project([cluster(account("importer", "Read"))], broken)],
    });
    expect(issuers?.["cluster"]).toMatchObject({ serviceAccounts: [account("importer", "Read")] });
  });
});

it("new keys of an issuer count while changes of its Project wait, or are refused", () => {
  const objects = (spec: JsonObject) => [project([corp({ access: "Write" })], spec)];
  const fetched = { [url]: known(two) };
  const suspended = compiled({ ...before, objects: objects({ suspend: true }), fetched });
  expect(suspended.issuers?.["corp"]).toMatchObject({ keys: two, access: "Read" });
  const refused = compiled({ ...before, objects: objects({ sessions: { accessTokenTTL: "never" } }), fetched });
  expect(refused.issuers?.["corp"]).toMatchObject({ keys: two, access: "Write" });
});

it("changes of a suspended Project wait, another name of an issuer among them; an issuer that it no longer names is not served", () => {
  const renamed = { ...corp(), name: "company" };
  const elsewhere = corp({}, { url: "https://other.example.org" });
  const issuersOf = (issuers: readonly object[]) =>
    compiled({ ...before, objects: [project(issuers, { suspend: true })], fetched: { [url]: known(two) } }).issuers;
  expect(issuersOf([renamed])).toMatchObject({ corp: { url, keys: two } });
  expect([issuersOf([]), issuersOf([elsewhere])]).toEqual([undefined, undefined]);
});
