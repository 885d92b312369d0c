// External issuers from the manifest to a caller: their keys are fetched from a real issuer over
// HTTPS, or from the API server, and tokens that they sign are accepted by every replica; and what
// becomes of them when the issuer is away, changes its keys, or is not allowed.

import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { type IssuerServer, startIssuerServer } from "../support/oidc/issuer-server.ts";
import { newSigningKey } from "../support/oidc/signing-key.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 60_000 };
const program = fileURLToPath(new URL("../support/oidc/operator-program.ts", import.meta.url));

let fleet: OwnFleet;
let issuer: IssuerServer;
let other: IssuerServer;
let slow: IssuerServer;
let allowed: string;
const first = newSigningKey("first");

beforeAll(async () => {
  [issuer, other, slow] = await Promise.all([
    startIssuerServer({ path: "/realms/main" }),
    startIssuerServer(),
    startIssuerServer(),
  ]);
  issuer.change({ keys: [first.jwk] });
  other.change({ keys: [first.jwk] });
  allowed = `${new URL(issuer.url).origin}/*,${slow.url}`;
  fleet = await startFleet({ operators: 0, replicas: 0, operatorArgs: ["--lease-duration", "4s"] });
  await startOperator();
  await Promise.all([fleet.addReplica(), fleet.addReplica()]);
});
afterAll(() => Promise.all([fleet?.stop(), ...[issuer, other, slow].map((server) => server?.close())]));

async function startOperator(options: { readonly rules?: string; readonly isOfCluster?: true } = {}): Promise<void> {
  await Promise.all(fleet.operators.splice(0).map((operator) => operator.stop()));
  const operator = await fleet.addOperator({
    ...(options.isOfCluster !== true && { program }),
    args: ["--allowed-issuers", options.rules ?? allowed],
  });
  await eventually(async () => expect(await operator.leads()).toBe(true), within);
}

const corp = (from: IssuerServer = issuer, more: object = {}) => ({
  name: "corp",
  issuer: { url: from.url, audiences: ["shop"], certificateAuthority: from.certificateAuthority },
  ...more,
});
const shopWith = (...issuers: readonly object[]) => declared("Project", "shop", { authentication: { issuers } });
const tokenOf = (key = first, claims: object = {}) =>
  key.token({ iss: issuer.url, aud: "shop", sub: "ann", ...claims });

/** Every replica answers so to the token. */
async function accepts(tenant: Tenant, token: string, patience = within): Promise<void> {
  await tenant.everywhere("/whoami", { as: `bearer ${token}` }, (reply) => expect(reply.status).toBe(200), patience);
}
async function refuses(tenant: Tenant, token: string, patience = within): Promise<void> {
  await tenant.everywhere("/whoami", { as: `bearer ${token}` }, (reply) => expect(reply.status).toBe(401), patience);
}

/** A Project that lets callers of the issuer in. */
async function openShop(more: object = {}): Promise<Tenant> {
  const tenant = await newTenant(fleet);
  await tenant.create(shopWith(corp(issuer, more)), openBooks());
  await tenant.reports("Project", "shop", "Ready");
  return tenant;
}

it("callers of an issuer come in once its Project is applied, and no longer once it is removed", async () => {
  const tenant = await openShop({ access: "Write", administrators: [{ claim: "groups", contains: "staff" }] });
  const token = tokenOf(first, { groups: ["staff"] });
  const expected = { kind: "external", name: "corp/ann", issuer: "corp", role: "Administrators", access: "Write" };
  await tenant.everywhere("/whoami", { as: `bearer ${token}` }, (reply) =>
    expect(reply.json()).toMatchObject(expected),
  );
  expect((await tenant.events("Project", "shop")).map(({ type }) => type)).not.toContain("Warning");

  await tenant.edit("Project", "shop", { authentication: { issuers: null } });
  await refuses(tenant, token);
  const facts = { audit: true, issuer: "corp", url: issuer.url, why: "Removed" };
  await eventually(() => {
    const line = fleet.operators[0]
      ?.log()
      .split("\n")
      .find((each) => each.includes("External issuer withdrawn"));
    expect(JSON.parse(line ?? "{}")).toMatchObject(facts);
  }, within);
});

it("a ServiceAccount of the cluster comes in with a token of the API server, if it is listed", async () => {
  const tenant = await newTenant(fleet);
  const accounts = `/api/v1/namespaces/${tenant.namespace}/serviceaccounts`;
  const tokenFor = async (name: string): Promise<string> => {
    await apiObject(fleet.api, accounts, { method: "POST", body: { metadata: { name } } });
    const body = { kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1", spec: { audiences: ["jsonplane"] } };
    const { status } = await apiObject(fleet.api, `${accounts}/${name}/token`, { method: "POST", body });
    return (status as unknown as { readonly token: string }).token;
  };
  const serviceAccounts = [{ namespace: tenant.namespace, name: "importer", access: "Write" }];
  const cluster = { name: "cluster", kubernetes: {}, issuer: { audiences: ["jsonplane"] }, serviceAccounts };
  await tenant.create(shopWith(cluster));
  await tenant.reports("Project", "shop", "Ready");
  const name = `cluster/system:serviceaccount:${tenant.namespace}:importer`;
  const as = `bearer ${await tokenFor("importer")}`;
  const expected = { kind: "external", name, role: "Users", access: "Write" };
  await tenant.everywhere("/whoami", { as }, (reply) => expect(reply.json()).toMatchObject(expected));
  await refuses(tenant, await tokenFor("stranger"));
});

it("a token with a key that the issuer has just begun to use is accepted at its first request", async () => {
  const tenant = await openShop();
  const [second, third] = [newSigningKey("second"), newSigningKey("third")];
  issuer.change({ keys: [first.jwk, second.jwk] });
  const [replica] = fleet.replicas;
  const reply = await replica?.send(`/${tenant.namespace}/shop/whoami`, { as: `bearer ${tokenOf(second)}` });
  expect(reply?.status).toBe(200);
  await accepts(tenant, tokenOf(second));
  await accepts(tenant, tokenOf(first));
  await refuses(tenant, tokenOf(third));
  issuer.change({ keys: [first.jwk] });
});

it("while something of a Project is being deleted, its status says that keys are being fetched, which is nothing to warn of", async () => {
  const tenant = await newTenant(fleet);
  const flags = declared("RootKey", "flags");
  const held = { ...flags, metadata: { ...flags.metadata, finalizers: ["example.org/hold"] } };
  await tenant.create(declared("Project", "shop"), held);
  await tenant.remove("RootKey", "flags");
  await tenant.reports("RootKey", "flags", "Deleting");
  const waiting: ServerResponse[] = [];
  slow.change({ answer: (_request, response) => waiting.push(response) > 0 });
  await tenant.edit("Project", "shop", { authentication: { issuers: [corp(slow)] } });
  const { Ready: ready } = await tenant.reports("Project", "shop", "WaitingForIssuer");
  expect(ready?.message).toContain('The keys of the issuer "corp" are being fetched');
  slow.change({ keys: [first.jwk] });
  for (const response of waiting) response.end(JSON.stringify({ issuer: slow.url, jwks_uri: `${slow.url}/keys` }));
  await tenant.reports("Project", "shop", "Ready");
  const events = await tenant.events("Project", "shop");
  expect(events).toContainEqual(expect.objectContaining({ type: "Normal", reason: "WaitingForIssuer" }));
  expect(events.map(({ type }) => type)).not.toContain("Warning");
});

describe("an issuer that is not allowed", () => {
  it("is refused with its place, and the rest of its Project is served", async () => {
    const tenant = await newTenant(fleet);
    await tenant.create(shopWith(corp(other)), openBooks());
    const { Ready: ready } = await tenant.reports("Project", "shop", "NotAllowed");
    expect(ready?.message).toContain("/spec/authentication/issuers/0/issuer/url: The platform does not allow");
    expect(other.requests).toEqual([]);
    await tenant.everywhere("/api/books", {}, ({ status }) => expect(status).toBe(200));
    await refuses(tenant, first.token({ iss: other.url, aud: "shop", sub: "ann" }));
  });

  it("any more, is withdrawn as soon as an operator knows, and from a suspended Project too", async () => {
    const [tenant, suspended] = [await openShop(), await openShop()];
    await suspended.edit("Project", "shop", { suspend: true });
    await suspended.reports("Project", "shop", "Suspended");
    await accepts(suspended, tokenOf());
    await startOperator({ rules: `${new URL(other.url).origin}/*` });
    await refuses(tenant, tokenOf());
    await refuses(suspended, tokenOf());
    await tenant.reports("Project", "shop", "NotAllowed");
    await startOperator();
    await tenant.reports("Project", "shop", "Ready");
    await accepts(tenant, tokenOf());
  });
});

describe("an operator that starts", () => {
  it("publishes nothing and writes no status where issuers and their keys are as they were", async () => {
    const tenant = await openShop();
    // Its status counts the ApiResource as well: the last of what the first operator writes.
    const settled = { status: { children: { apiResources: 1 } } };
    await tenant.reports("ApiResource", "books", "Ready");
    await eventually(async () => expect(await tenant.get("Project", "shop")).toMatchObject(settled), within);
    const before = await tenant.get("Project", "shop");
    const asked = issuer.requests.length;
    await startOperator();
    await eventually(() => expect(issuer.requests.length).toBeGreaterThan(asked), within);
    // Whatever it writes of this comes before what it writes of an edit.
    await tenant.edit("ApiResource", "books", { limits: { maxObjects: 1_000 } });
    await tenant.reports("ApiResource", "books", "Ready");
    expect(await tenant.get("Project", "shop")).toEqual(before);
    // The field of the edit is all that it has published.
    expect(await fleet.operators[0]?.metrics()).toMatch(/^jsonplane_publish_fields_total 1$/m);
  });

  it("keeps the keys of an issuer that is away, says so, and says so when it is back", async () => {
    const tenant = await openShop();
    issuer.change({ answer: (_request, response) => Boolean(response.writeHead(503).end("a stack trace")) });
    await startOperator();
    const { Ready: ready } = await tenant.reports("Project", "shop", "IssuerUnreachable");
    expect(ready).toMatchObject({
      status: "True",
      message: expect.stringContaining("it answered with status 503. Those that were fetched before still count"),
    });
    expect(ready?.message).not.toContain("a stack trace");
    await accepts(tenant, tokenOf());
    // Edits count meanwhile.
    await tenant.edit("Project", "shop", { authentication: { issuers: [corp(issuer, { access: "Write" })] } });
    await tenant.everywhere("/whoami", { as: `bearer ${tokenOf()}` }, (reply) =>
      expect(reply.json()).toMatchObject({ access: "Write" }),
    );
    issuer.change({ keys: [first.jwk] });
    await tenant.reports("Project", "shop", "Ready");
    const events = await tenant.events("Project", "shop");
    const warnings = events.filter(({ type }) => type === "Warning").map(({ reason }) => reason);
    expect(warnings).toEqual(["IssuerUnreachable"]);
    expect(await fleet.operators[0]?.metrics()).toMatch(/^jsonplane_issuers_unreachable 0$/m);
  });

  it("as a cluster runs it, fetches nothing from its own machine", async () => {
    const tenant = await openShop();
    const asked = issuer.requests.length;
    await startOperator({ isOfCluster: true });
    const { Ready: ready } = await tenant.reports("Project", "shop", "IssuerUnreachable");
    expect(ready?.status).toBe("True");
    expect(ready?.message).toContain("at an address that nothing is fetched from");
    expect(issuer.requests.length).toBe(asked);
    await startOperator();
  });
});
