// Passwords are hashed next to all else: whatever a tenant has hashed, keys that are deleted are
// refused and new ones work, those of others and its own. On the real system, with an operator
// whose hashes wait until a test says so.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { basic } from "../support/http/projects.ts";
import { declared, newTenant, secretOf, type Tenant } from "../support/kubernetes/declared.ts";

let fleet: OwnFleet;
let folder: string;
let held: string;
let tenant: Tenant;

const hold = () => writeFile(held, "");
const release = () => rm(held, { force: true });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-held-"));
  held = join(folder, "held");
  fleet = await startFleet({ operators: 0, replicas: 0 });
  await startOperator();
  await fleet.addReplica();
});
afterAll(async () => {
  await fleet?.stop();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  tenant = await newTenant(fleet);
  return release;
});

async function startOperator(): Promise<void> {
  const preloaded = new URL("../support/fleet/held-hashes.ts", import.meta.url);
  preloaded.searchParams.set("file", held);
  await fleet.addOperator({ nodeFlags: ["--import", preloaded.href] });
}

/** A document that keys may read, and one key. */
const guarded = () => [
  declared("Project", "shop"),
  declared("RootKey", "flags", { key: "flags", initialValue: {}, access: { read: "Authenticated" } }),
  declared("ApiKey", "ci"),
];

/** Next to it users whose passwords are the entries of their names in the Secret `passwords`. */
const shop = (users: readonly string[]) => [
  ...guarded(),
  secretOf("passwords", Object.fromEntries(users.map((name) => [name, `first of ${name}`]))),
  ...users.map((name) => declared("ProjectUser", name, { passwordSecretRef: { name: "passwords", key: name } })),
];

/** Waits until the key answers so at every replica. */
async function keyAnswers(at: Tenant, key: string, status: number): Promise<void> {
  await at.everywhere("/json/flags", { as: `apikey ${key}` }, (reply) => expect(reply.status).toBe(status));
}

const keyOf = (at: Tenant, name: string) => fleet.secret(at.namespace, `${name}-api-key`, "apiKey");

async function loginAnswers(username: string, password: string, status: number): Promise<void> {
  const sent = { method: "POST", as: basic(username, password) };
  await tenant.everywhere("/sessions/", sent, (reply) => expect(reply.status).toBe(status));
}

it("keys of the Project itself and of others are refused when they are deleted, and new ones work, while passwords are hashed", async () => {
  const other = await newTenant(fleet);
  await other.create(...guarded());
  await hold();
  await tenant.create(...shop(["ann", "ben"]));
  await tenant.reports("ApiKey", "ci", "Ready");
  await tenant.reports("ProjectUser", "ann", "CredentialPending");
  for (const each of [tenant, other]) {
    const key = await keyOf(each, "ci");
    await keyAnswers(each, key, 200);
    await each.remove("ApiKey", "ci");
    await keyAnswers(each, key, 401);
    await each.create(declared("ApiKey", "later"));
    await keyAnswers(each, await keyOf(each, "later"), 200);
  }
  await tenant.reports("ProjectUser", "ann", "CredentialPending");
  await release();
  for (const name of ["ann", "ben"]) await tenant.reports("ProjectUser", name, "Ready");
  await loginAnswers("ben", "first of ben", 201);
});

it("a password that changes works until the new one is hashed, and no longer", async () => {
  await tenant.create(...shop(["ann"]));
  await tenant.reports("ProjectUser", "ann", "Ready");
  await hold();
  await tenant.patch("Secret", "passwords", { stringData: { ann: "second of ann" } });
  await tenant.reports("ProjectUser", "ann", "CredentialPending");
  await loginAnswers("ann", "second of ann", 401);
  await loginAnswers("ann", "first of ann", 201);
  await release();
  await tenant.reports("ProjectUser", "ann", "Ready");
  await loginAnswers("ann", "second of ann", 201);
  await loginAnswers("ann", "first of ann", 401);
});

it("the next leader hashes nothing that the one before has hashed", async () => {
  await tenant.create(...shop(["ann", "ben"]));
  for (const name of ["ann", "ben"]) await tenant.reports("ProjectUser", name, "Ready");
  await hold();
  await tenant.patch("Secret", "passwords", { stringData: { ben: "second of ben" } });
  await tenant.reports("ProjectUser", "ben", "CredentialPending");
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await startOperator();
  await tenant.edit("ProjectUser", "ann", { access: "Write" });
  await tenant.reports("ProjectUser", "ann", "Ready");
  await tenant.reports("ProjectUser", "ben", "CredentialPending");
  await loginAnswers("ben", "first of ben", 201);
  await release();
  await tenant.reports("ProjectUser", "ben", "Ready");
  await loginAnswers("ben", "second of ben", 201);
});
