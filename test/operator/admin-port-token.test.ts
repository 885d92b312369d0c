// Metrics and usage of the operator and of a replica, as processes, ask for the token of a file;
// probes don't.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { send } from "../support/http/http-client.ts";
import { declared, newTenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const former = "former-0123456789abcdef";
const renewed = "renewed-0123456789abcdef";

let dir: string;
let file: string;
let fleet: OwnFleet;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "jsonplane-token-"));
  file = join(dir, "token");
  await writeFile(file, `${former}\n`);
  const args = ["--admin-token-file", file];
  fleet = await startFleet({ operatorArgs: args, replicaArgs: args });
  const tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), declared("RootKey", "flags", { initialValue: {} }));
  await fleet.ready(tenant.namespace);
  await tenant.everywhere("/json/flags", {}, ({ status }) => expect(status).toBe(200));
});
afterAll(async () => {
  await fleet?.stop();
  await rm(dir, { recursive: true, force: true });
});

const programs = () => [...fleet.operators, ...fleet.replicas];
const closed = () => [
  ...programs().map(({ adminUrl }) => [adminUrl, "/metrics"] as const),
  ...fleet.replicas.flatMap(({ adminUrl }) => ["/usage", "/usage/a/b"].map((path) => [adminUrl, path] as const)),
];

describe("with --admin-token-file", () => {
  it("nobody learns a tenant's name without the token", async () => {
    for (const [origin, path] of closed()) {
      const reply = await send(origin, path);
      expect([path, reply.status, reply.headers["www-authenticate"]]).toEqual([
        path,
        401,
        'Bearer realm="jsonplane metrics"',
      ]);
      expect(reply.text).not.toContain("shop");
      expect((await send(origin, path, { as: `Bearer ${renewed}` })).status).toBe(401);
    }
  });

  it("whoever has it reads all, and probes need none", async () => {
    for (const [origin, path] of closed()) {
      expect((await send(origin, path, { as: `Bearer ${former}` })).status).not.toBe(401);
    }
    const probes = [
      ...fleet.operators.flatMap(({ adminUrl }) => [adminUrl].flatMap((at) => [`${at}/healthz`, `${at}/readyz`])),
      ...fleet.replicas.flatMap(({ adminUrl }) => ["livez", "startupz", "readyz"].map((name) => `${adminUrl}/${name}`)),
    ];
    for (const probe of probes) expect((await fetch(probe)).status).toBe(200);
    const usage = await send(fleet.replicas[0]?.adminUrl ?? "", "/usage", { as: `Bearer ${former}` });
    expect(usage.text).toContain("/shop");
  });

  it("one that is renewed in the file counts at once, in place of the former", async () => {
    await writeFile(file, renewed);
    for (const [origin, path] of closed()) {
      await eventually(async () =>
        expect((await send(origin, path, { as: `Bearer ${renewed}` })).status).not.toBe(401),
      );
      expect((await send(origin, path, { as: `Bearer ${former}` })).status).toBe(401);
    }
  });

  it("a program whose file can't be used refuses to start, and says so without its content", async () => {
    await writeFile(file, "secretword");
    const late = await fleet.addOperator({ untilReady: false });
    expect(await late.ended()).toBe(1);
    expect(late.log()).toContain("--admin-token-file");
    for (const program of [late, ...programs()]) {
      expect(program.log()).not.toMatch(/secretword|0123456789abcdef/);
    }
  });
});
