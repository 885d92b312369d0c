// Secrets that somebody made before the objects whose names they have, with every label and
// annotation that jsonplane sets: whoever may create Secrets, and no more, knows no credential by
// that.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mintSigningKey } from "../../operator/resolve/mint.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { type GuardedShop, guardedShop } from "../support/fleet/guarded-shop.ts";
import { type Declared, declared, newTenant } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

let fleet: OwnFleet;
beforeAll(async () => {
  fleet = await startFleet({ guardRails: { allowedHosts: "", adoptData: "Allow" } });
});
afterAll(() => fleet?.stop());

interface Owner {
  readonly kind: "Project" | "ApiKey" | "ProjectUser";
  readonly name: string;
}

function planted({ kind, name }: Owner, secret: string, entries: Readonly<Record<string, string>>): Declared {
  const labels = {
    "app.kubernetes.io/managed-by": "jsonplane",
    "jsonplane.io/kind": kind,
    "jsonplane.io/name": name,
  };
  const annotations = { "jsonplane.io/owner-uid": "", "jsonplane.io/project": "shop", "jsonplane.io/seal": "planted" };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: secret, labels, annotations },
    type: secret.endsWith("-password") ? "kubernetes.io/basic-auth" : "Opaque",
    stringData: entries,
  } as unknown as Declared;
}

const web: Owner = { kind: "ApiKey", name: "web" };
const ann: Owner = { kind: "ProjectUser", name: "ann" };
const shopProject: Owner = { kind: "Project", name: "shop" };
const userRecord = JSON.stringify({ hash: "$argon2id$v=19", revision: "r", changedAt: "2026-06-01T12:00:00Z" });
const ring = JSON.stringify({ keys: [mintSigningKey(randomBytes)] });
const signing = { ring, rotation: '{"retiring":[]}' };

async function open(...objects: readonly Declared[]): Promise<GuardedShop> {
  const tenant = await newTenant(fleet);
  await tenant.create(...objects);
  return guardedShop(tenant);
}

describe("a planted Secret", () => {
  it.each([
    ["that shows a key", web, planted(web, "web-api-key", { apiKey: "1" })],
    ["that shows a password", ann, planted(ann, "ann-password", { username: "ann", password: "1" })],
    ["that records a password", ann, planted(ann, "ann-user-hash", { record: userRecord })],
    ["with signing keys", shopProject, planted(shopProject, "shop-signing", signing)],
  ])("%s is not used: what the operator makes takes its place", async (_, owner, secret) => {
    const { kind, name } = owner;
    const shop = await open(secret);
    const { name: secretName } = secret.metadata;
    await shop.create(
      declared("Project", "shop"),
      declared("ApiResource", "notes", { schema: {} }),
      ...(kind === "Project" ? [] : [declared(kind, name, { role: "Administrators", access: "Write" })]),
    );
    await fleet.ready(shop.namespace);
    if (kind === "ApiKey") {
      await shop.refused("apikey 1");
      await shop.admitted(await shop.key());
    }
    if (kind === "ProjectUser") {
      expect((await shop.login("ann", "1")).status).toBe(401);
      await shop.session("ann", await shop.password());
    }
    if (kind === "Project") expect(await fleet.secret(shop.namespace, "shop-signing", "ring")).not.toBe(ring);
    expect((await shop.get("Secret", secretName)).metadata.annotations?.["jsonplane.io/seal"]).not.toBe("planted");
  });

  it("is used where the Project asks for what was there before, and an Event says so", async () => {
    const shop = await open(planted(web, "web-api-key", { apiKey: "jp_of_a_backup" }));
    const project = declared("Project", "shop");
    const annotations = { "jsonplane.io/adopt-data": "true" };
    await shop.create(
      { ...project, metadata: { ...project.metadata, annotations } },
      declared("ApiResource", "notes", { schema: {} }),
      declared("ApiKey", "web", { access: "Write" }),
    );
    await fleet.ready(shop.namespace);
    await shop.admitted("apikey jp_of_a_backup");
    expect(await shop.reportedOf("ApiKey", "web", "CredentialRestored")).toContain("web-api-key");
  });

  it("written over that of an object that is served lets in no login and no key", async () => {
    const shop = await open(
      declared("Project", "shop"),
      declared("ApiResource", "notes", { schema: {} }),
      declared("ApiKey", "web"),
      declared("ProjectUser", "ann"),
    );
    await fleet.ready(shop.namespace);
    const [key, password] = [await shop.key(), await shop.password()];
    for (const secret of [
      planted(web, "web-api-key", { apiKey: "1" }),
      planted(ann, "ann-password", { password: "1" }),
    ]) {
      const { metadata, stringData } = secret as Declared & { readonly stringData: object };
      await shop.patch("Secret", metadata.name, { metadata: { annotations: metadata.annotations }, stringData });
    }
    await shop.admitted(key);
    await eventually(async () => expect(["1", password]).not.toContain(await shop.password()));
    await shop.session("ann", await shop.password());
    await shop.refused("apikey 1");
    expect((await shop.login("ann", "1")).status).toBe(401);
    expect((await shop.login("ann", password)).status).toBe(401);
    expect([key, "apikey 1"]).not.toContain(await shop.key());
    await shop.admitted(await shop.key());
  });
});
