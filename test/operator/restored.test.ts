// A backup is put back, on a fleet: all custom resources and Secrets were gone, and every
// object has a new UID. Where the objects ask for it, and the platform allows it, keys and
// passwords are the ones from before, and so are stored data.

import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { type GuardedShop, openGuardedShop } from "../support/fleet/guarded-shop.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { type Declared, declared, secretOf } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import { type Backup, backupOf } from "./backup.ts";

const within = { withinMs: 60_000 };
const given = { password: "correct horse" };

let fleet: OwnFleet;

beforeAll(async () => {
  fleet = await startFleet({ replicas: 2, guardRails: { allowedHosts: "", adoptData: "Allow" } });
});
afterAll(() => fleet?.stop());

interface Before {
  readonly shop: GuardedShop;
  readonly keys: readonly string[];
  readonly sessions: Readonly<Record<"ann" | "ben", Awaited<ReturnType<GuardedShop["session"]>>>>;
  readonly note: string;
  readonly backup: Backup;
}

/** A key that was rotated, a generated password and a given one, and a note. */
async function openShop(): Promise<Before> {
  const web = declared("ApiKey", "web", { access: "Write" });
  const ben = declared("ProjectUser", "ben", { passwordSecretRef: { name: "of-ben" } });
  const shop = await openGuardedShop(fleet, web, declared("ProjectUser", "ann"), secretOf("of-ben", given), ben);
  const former = await shop.key();
  await shop.edit("ApiKey", "web", { rotation: { id: "a" } });
  await shop.reports("ApiKey", "web", "Ready");
  const [replica] = fleet.replicas;
  const as = await shop.key();
  const made = await replica?.send(`/${shop.namespace}/shop/api/notes`, { method: "POST", body: { text: "Momo" }, as });
  const ann = await shop.session("ann", await shop.password());
  const sessions = { ann, ben: await shop.session("ben", given.password) };
  const note = `/api/notes/${made?.json<{ id: string }>().id}`;
  return { shop, keys: [as, former], sessions, note, backup: await backupOf(shop) };
}

async function removeAll({ shop, backup }: Before): Promise<void> {
  for (const { kind, metadata } of backup.objects) await shop.remove(kind, metadata.name);
}

/** All but what a person made; waits until they are. */
async function secretsGone({ shop }: Before): Promise<void> {
  await eventually(async () => {
    const { secrets } = await backupOf(shop);
    expect(secrets.map(({ metadata }) => metadata.name)).toEqual(["of-ben"]);
  }, within);
}

const asks = { "jsonplane.io/adopt-data": "true" };

const asking = (objects: readonly Declared[]): readonly Declared[] =>
  objects.map(({ metadata, ...object }) => {
    if (object.kind !== "Project") return { ...object, metadata };
    return { ...object, metadata: { ...metadata, annotations: { ...(metadata.annotations as object), ...asks } } };
  });

/** Lines of the operators' audit log with this message about the key and the user. */
function auditedOf({ shop }: Before, message: string): readonly unknown[] {
  const lines = fleet.operators.flatMap((operator) => operator.log().split("\n").slice(0, -1));
  return lines
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter((line) => line["message"] === message && line["namespace"] === shop.namespace)
    .map((line) => line["name"]);
}

/** What was made before works, and nothing was made again. */
async function isAsBefore({ shop, keys, note, backup }: Before): Promise<void> {
  await fleet.ready(shop.namespace);
  const [newest = ""] = keys;
  for (const key of keys) await shop.admitted(key);
  await shop.everywhere(note, { as: newest }, ({ text }) => expect(text).toContain("Momo"));
  await shop.session("ann", await shop.password());
  await shop.session("ben", given.password);
  // The ring's notes may be others; what it signs with is not.
  const valuesOf = ({ secrets }: Backup) =>
    secrets.map(({ metadata, data }) => ({ name: metadata.name, data: { ...(data as object), rotation: "" } }));
  expect(valuesOf(await backupOf(shop))).toEqual(valuesOf(backup));
  for (const name of ["web", "ann", "ben"])
    await shop.reports(name === "web" ? "ApiKey" : "ProjectUser", name, "Ready");
}

it("Secrets first, then everything else, while the operator runs: nothing is lost, and sessions have ended", async () => {
  const before = await openShop();
  const { shop, backup, sessions } = before;
  const { uid } = (await shop.get("Project", "shop")).metadata;
  await removeAll(before);
  await secretsGone(before);
  await shop.remove("Secret", "of-ben");
  await shop.create(...backup.secrets);
  await shop.create(...asking(backup.objects).toReversed());
  await isAsBefore(before);
  expect(await shop.reportedOf("ApiKey", "web", "CredentialRestored")).toContain('Secret "web-api-key"');
  expect(new Set(auditedOf(before, "Credential restored"))).toEqual(new Set(["shop", "web", "ann", "ben"]));
  expect((await shop.get("Project", "shop")).metadata.uid).not.toBe(uid);
  for (const session of Object.values(sessions)) await shop.ended(session);
});

it("of children whose Project stayed: sessions go on too", async () => {
  const before = await openShop();
  const { shop, backup, sessions } = before;
  const children = backup.objects.filter(({ kind }) => kind !== "Project");
  for (const { kind, metadata } of children) await shop.remove(kind, metadata.name);
  await eventually(async () => {
    const { secrets } = await backupOf(shop);
    expect(secrets.map(({ metadata }) => metadata.name)).toEqual(["of-ben", "shop-signing"]);
  }, within);
  await shop.create(...backup.secrets.filter(({ metadata }) => !["of-ben", "shop-signing"].includes(metadata.name)));
  await shop.patch("Project", "shop", { metadata: { annotations: asks } });
  await shop.create(...children);
  await isAsBefore(before);
  for (const session of Object.values(sessions)) await shop.goesOn(session);
});

it("in any order while no operator runs, with Redis emptied of configuration: nothing is lost", async () => {
  const before = await openShop();
  const { shop, backup } = before;
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await removeAll(before);
  for (const { metadata } of backup.secrets) await shop.remove("Secret", metadata.name);
  await forgetConfig();
  await shop.create(...asking(backup.objects).toReversed(), ...backup.secrets.toReversed());
  await fleet.addOperator();
  await isAsBefore(before);
});

it("whole, as an operator is told that takes over all that it finds: nothing has to ask, and nothing is lost", async () => {
  const before = await openShop();
  const { shop, backup } = before;
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await removeAll(before);
  await shop.create(...backup.objects);
  await setAdoptData(shop, "Deny");
  await fleet.addOperator({ args: ["--adopt-data"] });
  await isAsBefore(before);
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await fleet.addOperator();
  await isAsBefore(before);
});

it("of objects that are there again before an operator runs: a credential that goes on to let in is not told to be revoked", async () => {
  const before = await openShop();
  const { shop, backup } = before;
  const revoked = auditedOf(before, "Credential revoked").length;
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await removeAll(before);
  await shop.create(...asking(backup.objects));
  await fleet.addOperator();
  await isAsBefore(before);
  expect(auditedOf(before, "Credential revoked").slice(revoked)).toEqual([]);
});

it("where the platform forbids it: everything has new credentials, and those of the backup let nobody in", async () => {
  const before = await openShop();
  const { shop, keys, backup } = before;
  await setAdoptData(shop, "Deny");
  for (const operator of fleet.operators.splice(0)) await operator.stop();
  await removeAll(before);
  const password = await shop.password();
  await shop.create(...asking(backup.objects));
  await fleet.addOperator();
  await fleet.ready(shop.namespace);
  for (const key of keys) await shop.refused(key);
  expect(keys).not.toContain(await shop.key());
  await shop.admitted(await shop.key());
  expect((await shop.login("ann", password)).status).toBe(401);
  await shop.session("ann", await shop.password());
});

async function setAdoptData({ namespace }: GuardedShop, rule: "Allow" | "Deny"): Promise<void> {
  await objectsOf(fleet.api, systemNamespace).patch("ConfigMap", "rails", {
    data: { [`${namespace}.adoptData`]: rule },
  });
}

it("a Project alone that is deleted and applied again: other signing keys, and what Secrets show stays", async () => {
  const { shop, keys, sessions, note, backup } = await openShop();
  const password = await shop.password();
  await shop.remove("Project", "shop");
  await eventually(async () => {
    const { secrets } = await backupOf(shop);
    expect(secrets.map(({ metadata }) => metadata.name)).not.toContain("shop-signing");
  }, within);
  await shop.create(...backup.objects.filter(({ kind }) => kind === "Project"));
  await fleet.ready(shop.namespace);
  for (const session of Object.values(sessions)) await shop.ended(session);
  const [newest = ""] = keys;
  await shop.everywhere(note, { as: newest }, ({ text }) => expect(text).toContain("Momo"));
  await shop.session("ann", password);
  await shop.session("ben", given.password);
  expect([await shop.key(), await shop.password()]).toEqual([newest, password]);
});

/** Data stay. */
async function forgetConfig(): Promise<void> {
  const redis = new Redis(fleet.redis.url);
  const keys = await redis.keys("{jsonplane}*");
  await redis.del(...keys);
  redis.disconnect();
}
