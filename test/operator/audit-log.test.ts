// Destructive acts in the log of the operator and of replicas: which object, which uid, and why;
// and no secret among them.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { type GuardedShop, openGuardedShop } from "../support/fleet/guarded-shop.ts";
import type { RunningProgram } from "../support/fleet/program-process.ts";
import { declared, newTenant, openBooks, secretOf, type Tenant } from "../support/kubernetes/declared.ts";
import { bookCount, namespaceThatCameBack } from "../support/kubernetes/former-namespace.ts";
import { eventually } from "../support/time/eventually.ts";
import { formsOf, secretsOf } from "./outputs-with-secrets.ts";

const within = { withinMs: 60_000 };
const web = declared("ApiKey", "web", { access: "Write" });
const ann = declared("ProjectUser", "ann");
const ben = declared("ProjectUser", "ben", { passwordSecretRef: { name: "of-ben" } });
const ofBen = secretOf("of-ben", { password: "correct horse" });

type Line = Readonly<Record<string, unknown>>;

let fleet: OwnFleet;
beforeAll(async () => {
  fleet = await startFleet({
    api: { controllers: ["namespace"] },
    guardRails: { allowedHosts: "", adoptData: "Allow" },
  });
});
afterAll(() => fleet?.stop());

/** Lines of the audit log. */
function audited(programs: readonly RunningProgram[]): readonly Line[] {
  const lines = programs.flatMap((program) => program.log().split("\n").slice(0, -1));
  return lines.map((line) => JSON.parse(line) as Line).filter(({ audit }) => audit === true);
}

/**
 * Waits until the operator has told of it; answers with the lines that say so, each without its
 * time.
 */
async function reported(message: string, facts: Line): Promise<readonly Line[]> {
  return await loggedBy(fleet.operators, message, facts);
}

async function loggedBy(programs: readonly RunningProgram[], message: string, facts: Line): Promise<readonly Line[]> {
  return await eventually(() => {
    const lines = audited(programs).filter((line) => line["message"] === message);
    const fitting = lines.filter((line) => Object.entries(facts).every(([name, value]) => line[name] === value));
    expect(fitting, JSON.stringify(lines)).not.toEqual([]);
    return fitting.map(({ time: _, ...line }) => line);
  }, within);
}

const uidOf = async (tenant: Tenant, kind: string, name: string) => (await tenant.get(kind, name)).metadata.uid;

async function write(tenant: Tenant): Promise<void> {
  await tenant.everywhere("/api/books", { method: "POST", body: {} }, ({ status }) => expect(status).toBe(201));
}

/** Everything that may be in no line. */
const unsaid = new Set<string>();
async function remember(shop: GuardedShop): Promise<void> {
  for (const secret of await secretsOf(shop)) unsaid.add(secret);
}

describe("the log tells", () => {
  it("of credentials that are rotated, adopted and revoked, and of Secrets that are deleted", async () => {
    const shop = await openGuardedShop(fleet, web, ann, ofBen, ben);
    const { namespace } = shop;
    await remember(shop);
    const key = await uidOf(shop, "ApiKey", "web");
    const ofKey = { kind: "ApiKey", namespace, name: "web", uid: key };
    await shop.edit("ApiKey", "web", { rotation: { id: "second", gracePeriod: "0s" } });
    await reported("Credential rotated", ofKey);
    expect(await reported("Credential revoked", ofKey)).toEqual([
      { level: "info", message: "Credential revoked", audit: true, ...ofKey, project: "shop", why: "Rotated" },
    ]);
    await shop.patch("Secret", "ann-password", { stringData: { password: "of her own" } });
    await reported("Password adopted", { kind: "ProjectUser", namespace, name: "ann" });
    await shop.patch("Project", "shop", { metadata: { annotations: { "jsonplane.io/rotate-signing-key": "second" } } });
    for (const action of ["added", "rotated"])
      await reported(`Signing key ${action}`, { kind: "Project", namespace, name: "shop" });
    await remember(shop);
    await shop.remove("ApiKey", "web");
    expect(await reported("Credential revoked", { ...ofKey, why: "Deleted" })).toHaveLength(1);
    await reported("Secret deleted", { ...ofKey, secret: "web-api-key", why: "Deleted" });
    const user = await uidOf(shop, "ProjectUser", "ann");
    await shop.remove("ProjectUser", "ann");
    await reported("Credential revoked", { kind: "ProjectUser", namespace, name: "ann", uid: user, why: "Deleted" });
  });

  it("of resources and Projects that are withdrawn, of data that are kept, and of purges: ordered, carried out, done", async () => {
    const tenant = await newTenant(fleet);
    const { namespace } = tenant;
    const kept = declared("RootKey", "flags", { initialValue: {}, deletionPolicy: "Retain" });
    await tenant.create(declared("Project", "shop", { deletionPolicy: "Delete" }), openBooks(), kept, web);
    await fleet.ready(namespace);
    await write(tenant);
    const ofData = { namespace, project: "shop" };
    const [flags, books, shop] = await Promise.all([
      uidOf(tenant, "RootKey", "flags"),
      uidOf(tenant, "ApiResource", "books"),
      uidOf(tenant, "Project", "shop"),
    ]);
    await tenant.remove("RootKey", "flags");
    await reported("Resource withdrawn", { kind: "RootKey", namespace, name: "flags", uid: flags, why: "Deleted" });
    await reported("Data retained", { ...ofData, what: "rootkey", name: "flags", uid: flags });
    await tenant.remove("Project", "shop");
    await tenant.gone("Project", "shop");
    const [withdrawn] = await reported("Project withdrawn", { kind: "Project", namespace, name: "shop", uid: shop });
    expect(withdrawn).toMatchObject({ why: "Deleted", resources: 1, rootKeys: 0, users: 0, keys: 1 });
    expect(withdrawn?.["deletionTimestamp"]).toMatch(/^2/);
    const data = { ...ofData, what: "resource", name: "books", deletedUid: shop };
    const [ordered, ...more] = await reported("Purge ordered", data);
    expect(more).toEqual([]);
    const { purge } = ordered ?? {};
    expect(purge).toContain(books);
    await reported("Purge done", { ...data, purge });
    expect(await loggedBy(fleet.replicas, "Purge carried out", { ...ofData, what: "resource", purge })).toHaveLength(1);
    await reported("Purge done", { ...ofData, what: "sessions", deletedUid: shop });
    // Its key only went with it, and comes back with the next Project of this name.
    const keys = audited(fleet.operators).filter((line) => line["namespace"] === namespace && line["name"] === "web");
    expect(keys).toEqual([]);
  });

  it("of a namespace that went, and of its data once somebody adopts them", async () => {
    const tenant = await namespaceThatCameBack(fleet);
    const { namespace } = tenant;
    const [gone] = await reported("Project withdrawn", { namespace, name: "shop" });
    expect(["Deleted", "NamespaceDeleted"]).toContain(gone?.["why"]);
    const adopting = declared("Project", "shop");
    const annotations = { "jsonplane.io/adopt-data": "true" };
    await tenant.create({ ...adopting, metadata: { name: "shop", annotations } }, openBooks());
    await bookCount(tenant, 1);
    const [adopted] = await reported("Data adopted", { namespace, project: "shop", what: "resource", name: "books" });
    expect(adopted?.["formerNamespaceUid"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("of the fleet's key ring, step by step, here and in each replica", async () => {
    await fleet.api.kubectl([
      ...["annotate", "secret", "jsonplane-keyring", "--namespace", "jsonplane-system"],
      "jsonplane.io/rotate=second",
    ]);
    await reported("Fleet key ring rotation step done", { step: "append" });
    await eventually(async () => {
      await fleet.mountKeyring();
      expect(audited(fleet.operators).map(({ step }) => step)).toContain("drop");
    }, within);
    await loggedBy(fleet.replicas, "Key ring changed", {});
  });

  it("and no secret", async () => {
    const text = audited([...fleet.operators, ...fleet.replicas])
      .map((line) => JSON.stringify(line))
      .join("\n");
    expect(unsaid.size).toBeGreaterThan(10);
    expect([...unsaid].filter((secret) => formsOf(secret).some((form) => text.includes(form)))).toEqual([]);
  });
});
