// What stays of the issuers that were published while a newer version of their Project can't be served.

import { describe, expect, it } from "vitest";
import { readKeySet } from "../../../../core/issuers/key-set.ts";
import { publicJwk } from "../../../support/oidc/issuer-server.ts";
import { before, compiled, corp, known, one, project, two, url } from "./issuer-case.ts";

it("an issuer that a Project no longer names is taken away, even if the rest of its new spec is refused", () => {
  const spec = { sessions: { accessTokenTTL: "never" } };
  const { issuers, verdict } = compiled({ ...before, objects: [project([], spec)] });
  expect(verdict).toMatchObject({ reason: "InvalidSpec", live: true });
  expect(issuers).toBeUndefined();
});

describe("what a Project has taken away counts although the rest of its new spec is refused", () => {
  const broken = { sessions: { accessTokenTTL: "never" } };
  const narrowing = (former: object, now: object) =>
    compiled({ ...before, before: [project([former])], objects: [project([now], broken)] }).issuers;
  const staff = { claim: "groups", contains: "staff" };
  const owners = { claim: "groups", contains: "owners" };
  const verified = { claim: "email_verified", requiredValue: "true" };
  const domain = { claim: "hd", requiredValue: "example.org" };

  it("audiences, access, administrators and rules, and nothing is added", () => {
    const former = corp(
      { access: "Write", administrators: [staff], claimValidationRules: [domain] },
      { audiences: ["shop", "old"] },
    );
    const now = corp(
      { access: "Read", administrators: [owners], claimValidationRules: [verified] },
      { audiences: ["shop", "new"] },
    );
    const kept = { audiences: ["shop"], access: "Read", administrators: [], claimRules: [domain, verified] };
    expect(narrowing(former, now)?.["corp"]).toMatchObject(kept);
    const widened = { audiences: ["shop"], access: "Read", administrators: [], claimRules: [verified, domain] };
    expect(narrowing(now, former)?.["corp"]).toMatchObject(widened);
  });

  it("all audiences: the issuer is not served", () => {
    expect(narrowing(corp(), corp({}, { audiences: ["other"] }))).toBeUndefined();
  });

  it("a key that was in the manifest", () => {
    const jwks = (...kids: readonly string[]) => ({
      jwks: JSON.stringify({ keys: kids.map((kid) => keysByKid[kid]) }),
    });
    const keysByKid: Readonly<Record<string, unknown>> = { a: publicJwk("a"), b: publicJwk("b") };
    const kept = narrowing(corp({}, jwks("a", "b")), corp({}, jwks("b")));
    expect(kept?.["corp"]).toMatchObject({ keys: [{ kid: "b" }] });
    expect(narrowing(corp({}, jwks("a")), corp({}, jwks("b")))).toBeUndefined();
    expect(narrowing(corp({}, jwks("a")), corp())).toBeUndefined();
    expect(narrowing(corp({}, jwks("a")), corp({}, { jwks: "{}" }))).toHaveProperty("corp");
  });

  it("a key that was fetched, and is not among those that the manifest has now", () => {
    const [kept, gone] = [publicJwk("kept"), publicJwk("gone")];
    const set = (...keys: readonly object[]) => JSON.stringify({ keys });
    const fetchedKeys = readKeySet(set(kept, gone));
    const keys = fetchedKeys.ok ? fetchedKeys.keys : [];
    const fetched = { [url]: { state: "known", content: { url, keys } } } as const;
    const issuersWith = (jwks: string) => {
      const objects = [project([corp({}, { jwks })], broken)];
      return compiled({ before: [project([corp()])], fetchedBefore: fetched, fetched, objects }).issuers;
    };
    expect(issuersWith(set(kept))?.["corp"]).toMatchObject({ keys: [{ kid: "kept" }] });
    expect(issuersWith(set(publicJwk("new")))).toBeUndefined();
    expect(issuersWith("{}")?.["corp"]?.keys).toHaveLength(2);
  });

  it("ServiceAccounts, and the role and access of those that stay", () => {
    const cluster = (...serviceAccounts: readonly object[]) => ({
      ...{ name: "cluster", kubernetes: {}, issuer: { audiences: ["jsonplane"] }, serviceAccounts },
    });
    const account = (name: string, role: string, access: string) => ({ namespace: "jobs", name, role, access });
    const fetchedBefore = { cluster: { state: "known", content: { url, keys: one } } } as const;
    const kept = (former: object, now: object) =>
      compiled({ before: [project([former])], fetchedBefore, objects: [project([now], broken)] }).issuers;
    const former = cluster(
      account("importer", "Administrators", "Write"),
      account("reader", "Users", "Read"),
      account("gone", "Users", "Write"),
    );
    const now = cluster(
      account("importer", "Users", "Read"),
      account("reader", "Administrators", "Write"),
      account("new", "Users", "Write"),
    );
    expect(kept(former, now)?.["cluster"]).toMatchObject({
      serviceAccounts: [account("importer", "Users", "Read"), account("reader", "Users", "Read")],
    });
    expect(kept(former, cluster(account("new", "Users", "Write")))).toBeUndefined();
  });
});

it("new keys of an issuer count while changes of its Project wait, or are refused", () => {
  for (const spec of [{ suspend: true }, { sessions: { accessTokenTTL: "never" } }]) {
    const objects = [project([corp({ access: "Write" })], spec)];
    const { issuers } = compiled({ ...before, objects, fetched: { [url]: known(two) } });
    expect(issuers?.["corp"]).toMatchObject({ keys: two, access: "Read" });
  }
});

it("changes of a suspended Project wait, that an issuer is gone among them; its keys don't", () => {
  const renamed = { ...corp(), name: "company" };
  const elsewhere = corp({}, { url: "https://other.example.org" });
  const cluster = { ...{ name: "cluster", kubernetes: {}, issuer: { audiences: ["shop"] } }, serviceAccounts: [] };
  for (const issuers of [[], [renamed], [elsewhere], [cluster]]) {
    const given = { ...before, objects: [project(issuers, { suspend: true })], fetched: { [url]: known(two) } };
    expect(compiled(given).issuers).toMatchObject({ corp: { url, keys: two } });
  }
});
