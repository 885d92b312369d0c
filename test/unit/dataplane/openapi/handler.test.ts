import { expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import type { IssuerSignIn } from "../../../../core/config/types.ts";
import { createMemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import type { PageAddition } from "../../../../dataplane/http/page.ts";
import { createSignInOffers } from "../../../../dataplane/openapi/handler.ts";
import { testIssuer, withIssuer } from "../../../support/http/external-issuer.ts";
import { type Modifier, project } from "../../../support/http/projects.ts";

function additionOf(...issuers: readonly Modifier[]): PageAddition | undefined {
  const parts = project("shop", ...issuers);
  const live = createMemoryDirectory(systemClock);
  live.put(parts);
  const found = live.directory.project(parts.project);
  if (found instanceof Promise || found.outcome !== "found") throw new Error("it is live at once");
  return createSignInOffers()(found.value);
}

const corp: IssuerSignIn = {
  clientId: "shop-web",
  authorizationEndpoint: "https://login.example.org/auth",
  tokenEndpoint: "https://login.example.org/token",
  alwaysSendsIss: true,
  scopes: ["openid"],
};

it("pages of a project of which no issuer has a client have nothing in addition", () => {
  expect(additionOf()).toBeUndefined();
  expect(additionOf(withIssuer(testIssuer("pods")))).toBeUndefined();
});

it("a page may reach each token endpoint's origin once, and no other address of an issuer", () => {
  const { connectTo } = additionOf(
    withIssuer(testIssuer("corp", { signIn: corp })),
    withIssuer(testIssuer("dev", { signIn: { ...corp, tokenEndpoint: "http://127.0.0.1:9000/token" } })),
    withIssuer(testIssuer("partner", { signIn: { ...corp, authorizationEndpoint: "https://other.example.org/auth" } })),
    withIssuer(testIssuer("pods")),
  ) ?? { connectTo: [] };
  expect(connectTo).toEqual(["http://127.0.0.1:9000", "https://login.example.org"]);
});

it.each([
  ["begins another directive", "https://a;sandbox/token"],
  ["begins another policy", "https://a,sandbox/token"],
  ["stands for other hosts", "https://*.example.org/token"],
  ["quotes a keyword", "https://'unsafe-eval'/token"],
  ["is a script", "javascript:alert(1)"],
  ["is that of a page which made a blob", "blob:https://login.example.org/0b5f"],
  ["is not encrypted", "http://login.example.org/token"],
  ["is no URL", "login.example.org"],
])("an endpoint whose origin %s gets neither into the policy nor into the page", (_what, endpoint) => {
  expect(additionOf(withIssuer(testIssuer("corp", { signIn: { ...corp, tokenEndpoint: endpoint } })))).toBeUndefined();
  expect(
    additionOf(withIssuer(testIssuer("corp", { signIn: { ...corp, authorizationEndpoint: endpoint } }))),
  ).toBeUndefined();
});
