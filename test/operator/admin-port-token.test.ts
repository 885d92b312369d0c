// Metrics and usage of the operator and of a replica, as processes, ask for the token that the
// operator has made; probes don't. The operator has the rights of deploy/rbac, which name its
// Secret.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import type { OperatorProcess, OperatorProcessOptions } from "../support/fleet/operator-process.ts";
import { send } from "../support/http/http-client.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { folderOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { declared, newTenant } from "../support/kubernetes/declared.ts";
import { grantOperator, operatorUser } from "../support/kubernetes/rbac.ts";
import { eventually } from "../support/time/eventually.ts";

const name = "jsonplane-admin-token";
const secretPath = `${folderOf("Secret", systemNamespace)}/${name}`;
const wrong = "wrong-0123456789abcdef";

let dir: string;
let file: string;
let fleet: OwnFleet;
let former: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "jsonplane-token-"));
  file = join(dir, "token");
  fleet = await startFleet({ operators: 0, replicas: 0, replicaArgs: ["--admin-token-file", file] });
  await grantOperator(fleet.api, "cluster");
  await addOperator();
  former = await mounted();
  await fleet.addReplica();
  const tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), declared("RootKey", "flags", { initialValue: {} }));
  await fleet.ready(tenant.namespace);
  await tenant.everywhere("/json/flags", {}, ({ status }) => expect(status).toBe(200));
});
afterAll(async () => {
  await fleet?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function addOperator(options: Partial<OperatorProcessOptions> = {}): Promise<OperatorProcess> {
  const kubeconfig = await fleet.api.kubeconfig(operatorUser);
  return await fleet.addOperator({ kubeconfig, args: ["--admin-token-secret", name], ...options });
}

/** What the Secret holds, and from now on the file of the replicas. */
async function mounted(): Promise<string> {
  const token = await fleet.secret(systemNamespace, name, "token");
  await writeFile(file, token);
  return token;
}

const programs = () => [...fleet.operators, ...fleet.replicas];
const closed = () => [
  ...programs().map(({ adminUrl }) => [adminUrl, "/metrics"] as const),
  ...fleet.replicas.flatMap(({ adminUrl }) => ["/usage", "/usage/a/b"].map((path) => [adminUrl, path] as const)),
];
const statusAs = async (token: string, origin: string, path = "/metrics") =>
  (await send(origin, path, { as: `Bearer ${token}` })).status;

describe("the token that the operator makes", () => {
  it("is needed to learn a tenant's name", async () => {
    for (const [origin, path] of closed()) {
      const reply = await send(origin, path);
      expect([path, reply.status, reply.headers["www-authenticate"]]).toEqual([
        path,
        401,
        'Bearer realm="jsonplane metrics"',
      ]);
      expect(reply.text).not.toContain("shop");
      expect(await statusAs(wrong, origin, path)).toBe(401);
    }
  });

  it("lets whoever has it read all, and probes need none", async () => {
    for (const [origin, path] of closed()) expect(await statusAs(former, origin, path)).not.toBe(401);
    const probes = [
      ...fleet.operators.flatMap(({ adminUrl }) => [`${adminUrl}/healthz`, `${adminUrl}/readyz`]),
      ...fleet.replicas.flatMap(({ adminUrl }) =>
        ["livez", "startupz", "readyz"].map((probe) => `${adminUrl}/${probe}`),
      ),
    ];
    for (const probe of probes) expect((await fetch(probe)).status).toBe(200);
    const usage = await send(fleet.replicas[0]?.adminUrl ?? "", "/usage", { as: `Bearer ${former}` });
    expect(usage.text).toContain("/shop");
  });

  it("is made anew once its Secret is deleted, and counts in place of the former", async () => {
    for (const { log } of programs()) expect(log()).not.toContain("Metrics token changed");
    await apiObject(fleet.api, secretPath, { method: "DELETE" });
    await eventually(async () => {
      // Being sent one that it doesn't know, the operator looks, once a second.
      expect(await statusAs(wrong, fleet.operators[0]?.adminUrl ?? "")).toBe(401);
      await fleet.get("Secret", systemNamespace, name);
    });
    const renewed = await mounted();
    expect(renewed).not.toBe(former);
    for (const [origin, path] of closed()) {
      await eventually(async () => expect(await statusAs(renewed, origin, path)).not.toBe(401));
      expect(await statusAs(former, origin, path)).toBe(401);
    }
    for (const { log } of programs()) await eventually(() => expect(log()).toContain("Metrics token changed"));
  });

  it("opens nothing where it can't be used, and stops no operator", async () => {
    const renewed = await mounted();
    const body = { stringData: { token: "secretword" } };
    await apiObject(fleet.api, secretPath, { method: "PATCH", body, contentType: "application/merge-patch+json" });
    const late = await addOperator();
    await eventually(() => expect(late.log()).toContain(`"secret":"${systemNamespace}/${name}"`));
    for (const token of [renewed, wrong, "secretword"]) expect(await statusAs(token, late.adminUrl)).toBe(401);
    expect(await statusAs(renewed, fleet.operators[0]?.adminUrl ?? "")).toBe(200);
  });
});

it("a program whose file can't be used refuses to start, and none says a token in its log", async () => {
  await writeFile(file, "secretword");
  const late = await addOperator({ args: ["--admin-token-file", file], untilReady: false });
  expect(await late.ended()).toBe(1);
  expect(late.log()).toContain("--admin-token-file");
  const token = new RegExp(`secretword|${former}|${wrong}`);
  for (const program of programs()) expect(program.log()).not.toMatch(token);
});
