import { expect, it } from "vitest";
import { serviceAccountOf } from "../../../../operator/kube/service-account.ts";

const token = (claims: unknown): string => {
  const text = typeof claims === "string" ? claims : JSON.stringify(claims);
  return `e30.${Buffer.from(text).toString("base64url")}.c2ln`;
};
const claims = { "kubernetes.io": { namespace: "system", serviceaccount: { name: "operator", uid: "u-1" } } };
const of = (authorization: string | undefined) =>
  serviceAccountOf({ headers: authorization === undefined ? {} : { authorization } });

it("the ServiceAccount of a token is read from its claims", () => {
  expect(of(`Bearer ${token(claims)}`)).toEqual({ namespace: "system", name: "operator", uid: "u-1" });
});

it.each([
  ["no header", undefined],
  ["another scheme", `Basic ${token(claims)}`],
  ["a token that is no JWT", "Bearer test-administrator"],
  ["claims that are no JSON", `Bearer ${token("{")}`],
  ["claims that are no object", `Bearer ${token("null")}`],
  ["somebody's own token", `Bearer ${token({ sub: "alice" })}`],
  ["a claim without a UID", `Bearer ${token({ "kubernetes.io": { namespace: "n", serviceaccount: { name: "x" } } })}`],
])("%s is of none", (_, authorization) => {
  expect(of(authorization)).toBeUndefined();
});
