// Dev mode fetches the keys of external issuers itself, also from this machine without TLS, and
// says at the terminal when it can't.

import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDevIssuers } from "../../../../cli/dev/apply/dev-issuers.ts";
import { systemTimers } from "../../../../core/timers.ts";
import { type IssuerServer, publicJwk, startIssuerServer } from "../../../support/oidc/issuer-server.ts";
import { eventually } from "../../../support/time/eventually.ts";
import { manualTime } from "../../../support/time/manual-time.ts";
import { type DevCluster, devCluster } from "./dev-cluster.ts";

let dev: DevCluster;
let issuer: IssuerServer;

beforeEach(async () => {
  [dev, issuer] = await Promise.all([devCluster(), startIssuerServer({ plain: true })]);
  issuer.change({ keys: [publicJwk("one")] });
});
afterEach(() => Promise.all([dev.close(), issuer.close()]));

const project = (issuers: string) => `apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: {name: shop}
spec:
  authentication:
    issuers: [${issuers}]
`;
const corp = (url: string) => `{name: corp, issuer: {url: "${url}", audiences: [shop]}, clientId: shop-web}`;
const served = () => dev.parts()?.issuers.get("corp");

it("an issuer on this machine is served from the first pass on, with where a page signs in", async () => {
  dev.edit("shop.yaml", project(corp(issuer.url)));
  expect(await dev.pass()).toEqual([]);
  expect(served()).toMatchObject({
    url: issuer.url,
    keys: [{ kid: "one" }],
    signIn: { clientId: "shop-web", authorizationEndpoint: `${issuer.url}/authorize` },
  });
});

it("one that is not there is said so at its line with what was asked for, and the rest of the Project is live", async () => {
  await issuer.close();
  dev.edit("shop.yaml", project(corp(issuer.url)));
  const lines = await dev.pass();
  expect(lines[0]).toMatch(
    /^shop\.yaml:6:\d+: .*: The keys of the issuer "corp" can't be fetched: .* \(IssuerUnreachable\)$/,
  );
  expect(lines[0]).toContain(`(GET ${issuer.url}/.well-known/openid-configuration: ECONNREFUSED)`);
  expect(lines[1]).toBe("Project/default/shop is served without this");
  expect(dev.parts()).toBeDefined();
  expect(served()?.keys).toEqual([]);
});

it("one that does not answer is said so", async () => {
  const time = manualTime();
  const issuers = createDevIssuers(time.timers);
  const held: ServerResponse[] = [];
  issuer.change({ answer: (_request, response) => held.push(response) > 0 });
  const source = { kind: "url", url: issuer.url } as const;
  const using = issuers.useOnly(new Map([["default/shop", new Map([["corp", source]])]]));
  await eventually(() => expect(held).toHaveLength(1));
  await time.advance(5_000);
  await using;
  await eventually(() => expect(issuers.lookUp(source).state).toBe("unreachable"));
  expect(issuers.lookUp(source)).toMatchObject({
    failure: "it did not answer within 5 seconds",
  });
  issuers.stop();
});

it("one that calls itself something else is said so with what it calls itself", async () => {
  issuer.change({ discovery: { issuer: `${issuer.url}/` } });
  dev.edit("shop.yaml", project(corp(issuer.url)));
  expect((await dev.pass())[0]).toContain(`another issuer than this url, to the letter (it names "${issuer.url}/")`);
});

it("what is hardly meant of an issuer is said as `jsonplane validate` says it, but for what dev mode takes", async () => {
  const jwks = JSON.stringify(JSON.stringify({ keys: [publicJwk("one")] }));
  const claim = "claimMappings: {username: {claim: email}}";
  dev.edit(
    "shop.yaml",
    project(`{name: corp, issuer: {url: "http://localhost:1", audiences: [a], jwks: ${jwks}}, ${claim}}`),
  );
  expect(await dev.pass()).toEqual([expect.stringMatching(/username\/claim: warning: .* email_verified/)]);
  expect(served()).toBeDefined();
});

it("this cluster's issuer is said to be missing: there is none", async () => {
  const cluster =
    "{name: cluster, kubernetes: {}, issuer: {audiences: [x]}, serviceAccounts: [{namespace: a, name: b}]}";
  dev.edit("shop.yaml", project(cluster));
  expect((await dev.pass())[0]).toContain("dev mode has no cluster, so no ServiceAccount is let in here");
});

it("a fetch that ends before anybody listens is told to whoever listens next", async () => {
  const time = manualTime();
  const issuers = createDevIssuers(time.timers);
  const held: ServerResponse[] = [];
  issuer.change({ keys: [publicJwk("one")], answer: (_request, response) => held.push(response) > 0 });
  const source = { kind: "url", url: issuer.url } as const;
  const using = issuers.useOnly(new Map([["default/shop", new Map([["corp", source]])]]));
  await eventually(() => expect(held).toHaveLength(1));
  await time.advance(2_000);
  await using;
  issuer.change({ keys: [publicJwk("one")] });
  held[0]?.end(JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }));
  await eventually(() => expect(issuers.lookUp(source).state).toBe("known"));
  let changes = 0;
  issuers.onChange(() => {
    changes += 1;
  });
  expect(changes).toBe(1);
  issuers.stop();

  const seen = createDevIssuers(systemTimers);
  await seen.useOnly(new Map([["default/shop", new Map([["corp", source]])]]));
  seen.onChange(() => {
    changes += 1;
  });
  expect(changes).toBe(1);
  seen.stop();
});

it("a provider that is started again is asked for its new keys within five seconds, if a token names one", async () => {
  const time = manualTime();
  const issuers = createDevIssuers(time.timers);
  const source = { kind: "url", url: issuer.url } as const;
  await issuers.useOnly(new Map([["default/shop", new Map([["corp", source]])]]));
  issuer.change({ keys: [publicJwk("two")] });
  issuers.want({ project: "default/shop", issuer: "corp" });
  await time.advance(5_000);
  await eventually(() => expect(issuers.lookUp(source)).toMatchObject({ content: { keys: [{ kid: "two" }] } }));
  issuers.stop();
});

it("plain HTTP to another machine is refused, and nothing is fetched", () => {
  const issuers = createDevIssuers(systemTimers);
  expect(issuers.isAllowed("http://localhost:8080")).toBe(true);
  expect(issuers.isAllowed("https://login.example.org/realms/main")).toBe(true);
  expect(issuers.isAllowed("http://login.example.org")).toBe(false);
  issuers.stop();
});
