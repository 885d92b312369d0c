// Whom the claims of a verified token name, and what a Project asks of them.

import { describe, expect, test } from "vitest";
import type { IssuerConfig, JsonObject } from "../../../../../core/config/types.ts";
import { type ExternalGrant, grantOf } from "../../../../../dataplane/authenticate/external/grant.ts";
import { type Claims, now, serviceAccountSubject, testIssuer } from "../../../../support/http/external-issuer.ts";

const { config } = testIssuer("corp");
const ada = { kind: "external", issuer: "corp", username: "ada", role: "Users", access: "Write" };

/** What is granted to tokens that are right but for these claims. */
function granting(changes: Partial<IssuerConfig>): (claims: Claims) => ExternalGrant | string {
  const right = { aud: "shop", sub: "ada", exp: now + 300 };
  return (claims) => grantOf({ ...config, ...changes }, { ...right, ...claims } as JsonObject);
}

describe("what a project asks of claims", () => {
  const rules = [
    { claim: "email_verified", requiredValue: "true" },
    { claim: "level", requiredValue: "2" },
    { claim: "tenant", requiredValue: "a" },
  ];
  const right = { email_verified: true, level: 2, tenant: "a" };

  test("is compared as text, of numbers and booleans as JSON writes them", () => {
    const grant = granting({ claimRules: rules });
    expect(grant(right)).toMatchObject({ caller: ada });
    expect(grant({ ...right, email_verified: "true" })).toMatchObject({ caller: ada });
  });

  test.each<[string, Claims]>([
    ["email_verified", { email_verified: false }],
    ["email_verified", { email_verified: undefined }],
    ["email_verified", { email_verified: [["true"]] }],
    ["email_verified", { email_verified: [] }],
    ["email_verified", { email_verified: { true: true } }],
    ["tenant", { tenant: "a b" }],
    ["level", { level: 2.5 }],
    ["level", { level: null }],
    ["tenant", { tenant: "b" }],
  ])("has to hold for each: %s is wrong by %j", (claim, wrong) => {
    const grant = granting({ claimRules: rules });
    expect(grant({ ...right, ...wrong })).toBe(
      `The token's claim ${claim} does not have the value that this project requires`,
    );
  });

  test("is not met by a number that stands for its neighbours, too", () => {
    const rule = (requiredValue: string) => granting({ claimRules: [{ claim: "org", requiredValue }] });
    const largest = Number.MAX_SAFE_INTEGER;
    expect(rule(`${largest}`)({ org: largest })).toMatchObject({ caller: ada });
    for (const org of [2 ** 53, JSON.parse("9007199254740993"), -(2 ** 53)])
      expect(rule(`${org}`)({ org })).toContain("org");
    expect(rule("9007199254740993")({ org: "9007199254740993" })).toMatchObject({ caller: ada });
  });

  test("may be one of the values of an array", () => {
    const grant = granting({ claimRules: rules });
    expect(grant({ email_verified: [true], level: [1, 2], tenant: ["b", "a"] })).toMatchObject({ caller: ada });
  });

  test.each(["scope", "scp"])("may be a word of %s, which makes administrators, too", (claim) => {
    const grant = granting({
      claimRules: [{ claim, requiredValue: "shop:read" }],
      administrators: [{ claim, contains: "shop:admin" }],
    });
    const administrator = { caller: { ...ada, role: "Administrators" } };
    expect(grant({ [claim]: "openid shop:read" })).toMatchObject({ caller: ada });
    expect(grant({ [claim]: "shop:admin shop:read" })).toMatchObject(administrator);
    expect(grant({ [claim]: ["shop:read", "shop:admin"] })).toMatchObject(administrator);
    for (const wrong of ["shop:reader", "shop:read,shop:admin", "xshop:read", "", ["openid shop:read"]]) {
      expect(grant({ [claim]: wrong })).toContain(`claim ${claim} does not have the value`);
    }
  });

  test("looks at members of the token only", () => {
    expect(granting({ usernameClaim: "constructor" })({})).toContain("claim constructor");
    expect(granting({ administrators: [{ claim: "constructor", contains: "x" }] })({})).toMatchObject({ caller: ada });
  });

  test.each<[string, Claims, string]>([
    ["the string", { groups: "staff" }, "Administrators"],
    ["an array with it", { groups: ["users", "staff"] }, "Administrators"],
    ["another claim that is named", { role: "admin" }, "Administrators"],
    ["a string that contains it", { groups: "not-staff" }, "Users"],
    ["an array of arrays", { groups: [["staff"]] }, "Users"],
    ["an object", { groups: { staff: true } }, "Users"],
    ["nothing", {}, "Users"],
  ])("makes administrators of %s", (_, claims, role) => {
    const administrators = [
      { claim: "groups", contains: "staff" },
      { claim: "role", contains: "admin" },
    ];
    expect(granting({ administrators })(claims)).toMatchObject({ caller: { ...ada, role } });
  });
});

describe("of a cluster's own issuer", () => {
  const listed = { namespace: "jobs", name: "importer", role: "Administrators", access: "Read" } as const;
  const changes: Partial<IssuerConfig> = { serviceAccounts: [{ ...listed, name: "other" }, listed], access: "Read" };

  test("a listed ServiceAccount is let in, with its own role and access", () => {
    const grant = granting(changes);
    const sub = serviceAccountSubject("jobs", "importer");
    expect(grant({ sub })).toMatchObject({
      caller: { kind: "external", issuer: "corp", username: sub, role: "Administrators", access: "Read" },
    });
  });

  test.each([
    "importer",
    "jobs:importer",
    "system:serviceaccount:jobs:importer2",
    "system:serviceaccount:job:s:importer",
  ])("%s is not", (sub) => {
    expect(granting({ ...changes, administrators: [{ claim: "sub", contains: sub }] })({ sub })).toContain(
      "ServiceAccount",
    );
  });
});
