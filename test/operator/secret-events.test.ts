// The table of docs/reference/secrets.md, row by row, on a fleet: what somebody does to a
// Secret, who is let in afterwards by every replica, and what is said of it.

import { beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { type GuardedShop, openGuardedShop } from "../support/fleet/guarded-shop.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { declared, newTenant, secretOf } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import { backupOf } from "./backup.ts";
import { forbidSecrets } from "./reason-cases.ts";

const within = { withinMs: 60_000 };
const web = declared("ApiKey", "web", { access: "Write" });
const ann = declared("ProjectUser", "ann");
const ben = declared("ProjectUser", "ben", { passwordSecretRef: { name: "of-ben" } });

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

async function isGone(shop: GuardedShop, secret: string): Promise<boolean> {
  return await shop.get("Secret", secret).then(
    () => false,
    () => true,
  );
}

/** Until the Secret stands there again. */
async function backAgain(shop: GuardedShop, secret: string): Promise<void> {
  await eventually(() => shop.get("Secret", secret), within);
}

async function edited(shop: GuardedShop, secret: string, entries: Readonly<Record<string, string>>): Promise<void> {
  await shop.patch("Secret", secret, { stringData: entries });
}

/**
 * Whatever an operator would do about it, it has done: it looked at the Project again, for another
 * reason.
 */
async function lookedAgain(shop: GuardedShop): Promise<void> {
  await shop.edit("ApiResource", "notes", { schema: { title: String(Math.random()) } });
  await shop.reports("ApiResource", "notes", "Ready");
}

describe("the Secret of an API key", () => {
  const losses = [
    ["deleted", (shop: GuardedShop) => shop.remove("Secret", "web-api-key")],
    ["with its apiKey edited", (shop: GuardedShop) => edited(shop, "web-api-key", { apiKey: mine })],
    [
      "with its annotation edited",
      (shop: GuardedShop) =>
        shop.patch("Secret", "web-api-key", { metadata: { annotations: { "jsonplane.io/rotation": "{}" } } }),
    ],
  ] as const;
  const mine = `jp_${"a".repeat(43)}`;

  it.each(losses)("%s: a new key is made, and the former one works for the grace period", async (_, lose) => {
    const shop = await openGuardedShop(fleet, web);
    const key = await shop.key();
    await lose(shop);
    expect(await shop.reportedOf("ApiKey", "web", "CredentialRotated")).toContain("keeps working for 24h");
    await shop.reports("ApiKey", "web", "Ready");
    expect([key, `apikey ${mine}`]).not.toContain(await shop.key());
    await shop.admitted(await shop.key());
    await shop.admitted(key);
    await shop.refused(`apikey ${mine}`);
    await shop.edit("ApiKey", "web", { rotation: { id: "ends-both", gracePeriod: "0s" } });
    await shop.refused(key);
  });

  it("with its id or baseURL edited: they are put right, and the key stays", async () => {
    const shop = await openGuardedShop(fleet, web);
    const [key, before] = [await shop.key(), (await shop.get("Secret", "web-api-key")).data];
    await edited(shop, "web-api-key", { id: "mine", baseURL: "elsewhere" });
    await eventually(async () => expect((await shop.get("Secret", "web-api-key")).data).toEqual(before), within);
    expect(await shop.reportedOf("ApiKey", "web", "SecretRepaired")).toContain('"web-api-key"');
    await shop.admitted(key);
  });
});

describe("a generated password", () => {
  it("deleted: a new one is made, and sessions end", async () => {
    const shop = await openGuardedShop(fleet, ann);
    const password = await shop.password();
    const session = await shop.session("ann", password);
    await shop.remove("Secret", "ann-password");
    await shop.ended(session);
    await backAgain(shop, "ann-password");
    expect((await shop.login("ann", password)).code).toBe("invalid_credentials");
    await shop.goesOn(await shop.session("ann", await shop.password()));
    expect(await shop.reportedOf("ProjectUser", "ann", "CredentialRotated")).toContain('"ann-password"');
  });

  it("edited: the edit is adopted, and sessions end", async () => {
    const shop = await openGuardedShop(fleet, ann);
    const password = await shop.password();
    const session = await shop.session("ann", password);
    await edited(shop, "ann-password", { password: "of her own", username: "eve" });
    await shop.ended(session);
    await shop.goesOn(await shop.session("ann", "of her own"));
    expect((await shop.login("ann", password)).code).toBe("invalid_credentials");
    expect(await shop.reportedOf("ProjectUser", "ann", "PasswordAdopted")).toContain('"ann-password"');
    expect(await fleet.secret(shop.namespace, "ann-password", "username")).toBe("ann");
  });
});

describe("the hash Secret of a user", () => {
  const losses = [
    ["deleted", (shop: GuardedShop, name: string) => shop.remove("Secret", name)],
    ["edited", (shop: GuardedShop, name: string) => edited(shop, name, { record: '{"hash":"00"}' })],
  ] as const;

  it.each(losses)("%s: it is made again, and nobody notices", async (_, lose) => {
    const shop = await openGuardedShop(fleet, ann);
    const password = await shop.password();
    const session = await shop.session("ann", password);
    await lose(shop, "ann-user-hash");
    await shop.reportedOf("ProjectUser", "ann", "SecretRepaired");
    await backAgain(shop, "ann-user-hash");
    await lookedAgain(shop);
    await shop.goesOn(session);
    await shop.session("ann", password);
  });
});

describe("the signing Secret", () => {
  it("deleted: the keys come back as they were, and no session, key or login is lost", async () => {
    const shop = await openGuardedShop(fleet, web, ann, secretOf("of-ben", { password: "correct horse" }), ben);
    const [key, password] = [await shop.key(), await shop.password()];
    const sessions = [await shop.session("ann", password), await shop.session("ben", "correct horse")];
    const ring = await fleet.secret(shop.namespace, "shop-signing", "ring");
    await shop.remove("Secret", "shop-signing");
    expect(await shop.reportedOf("Project", "shop", "SecretRepaired")).toContain('"shop-signing"');
    await lookedAgain(shop);
    expect(await fleet.secret(shop.namespace, "shop-signing", "ring")).toBe(ring);
    await shop.admitted(key);
    for (const session of sessions) await shop.goesOn(session);
    await shop.session("ann", password);
  });

  const edits = [
    ["ring", "no ring"],
    ["rotation", "no state"],
  ] as const;

  it.each(edits)("with its %s edited: it is put right, and no session, key or login is lost", async (entry, text) => {
    const shop = await openGuardedShop(fleet, web, ann);
    const [key, password] = [await shop.key(), await shop.password()];
    const session = await shop.session("ann", password);
    const ring = await fleet.secret(shop.namespace, "shop-signing", "ring");
    await edited(shop, "shop-signing", { [entry]: text });
    await shop.reportedOf("Project", "shop", "SecretRepaired");
    await lookedAgain(shop);
    expect(await fleet.secret(shop.namespace, "shop-signing", "ring")).toBe(ring);
    expect(await fleet.secret(shop.namespace, "shop-signing", entry)).not.toBe(text);
    await shop.admitted(key);
    await shop.goesOn(session);
    await shop.session("ann", password);
    expect([await shop.key(), await shop.password()]).toEqual([key, password]);
  });
});

describe("the Secret that a user's password comes from", () => {
  it("changed: it is followed within seconds, and sessions end", async () => {
    const shop = await openGuardedShop(fleet, secretOf("of-ben", { password: "correct horse" }), ben);
    const session = await shop.session("ben", "correct horse");
    await edited(shop, "of-ben", { password: "battery staple" });
    await shop.ended(session);
    await shop.goesOn(await shop.session("ben", "battery staple"));
    expect((await shop.login("ben", "correct horse")).code).toBe("invalid_credentials");
    await shop.reportedOf("ProjectUser", "ben", "PasswordAdopted");
  });

  it("missing, or without the entry, or deleted later: the object says which, and it heals by itself", async () => {
    const shop = await openGuardedShop(fleet);
    await shop.create(ben);
    expect((await shop.reports("ProjectUser", "ben", "SecretNotFound")).Ready?.message).toContain('no Secret "of-ben"');
    await shop.create(secretOf("of-ben", { pasword: "correct horse" }));
    await eventually(async () => {
      const { Ready } = await shop.reports("ProjectUser", "ben", "SecretNotFound");
      expect(Ready?.message).toContain('no entry "password"');
    });
    await edited(shop, "of-ben", { password: "correct horse" });
    await shop.reports("ProjectUser", "ben", "Ready");
    const session = await shop.session("ben", "correct horse");
    await shop.remove("Secret", "of-ben");
    await shop.reports("ProjectUser", "ben", "SecretNotFound");
    await shop.goesOn(session);
    await shop.session("ben", "correct horse");
    await shop.create(secretOf("of-ben", { password: "correct horse" }));
    await shop.reports("ProjectUser", "ben", "Ready");
    await shop.goesOn(session);
  });
});

describe("a Secret of somebody else on one of these names", () => {
  const names = [
    ["web-api-key", "ApiKey", "web"],
    ["ann-password", "ProjectUser", "ann"],
    ["ann-user-hash", "ProjectUser", "ann"],
    ["shop-signing", "Project", "shop"],
  ] as const;

  it.each(names)("%s: is never touched, and what waits for it heals once it goes", async (secret, kind, name) => {
    const shop = await openGuardedShop(fleet, web, ann);
    const [key, session] = [await shop.key(), await shop.session("ann", await shop.password())];
    await shop.remove(kind, name);
    await eventually(async () => expect(await isGone(shop, secret)).toBe(true), within);
    await shop.create(secretOf(secret, { apiKey: "mine", password: "mine", ring: "mine", record: "mine" }));
    const { version, ...foreign } = await standing(shop, secret);
    const object = [declared("Project", "shop"), web, ann].find((each) => each.metadata.name === name);
    await shop.create(object ?? web);
    const { Ready } = await shop.reports(kind, name, "SecretConflict");
    expect(Ready?.message).toContain(`"${secret}" was not made for this ${kind}`);
    if (name !== "shop") await lookedAgain(shop);
    expect(await standing(shop, secret)).toEqual({ ...foreign, version });

    await shop.remove("Secret", secret);
    await shop.reports(kind, name, "Ready");
    await shop.reports("ApiKey", "web", "Ready");
    await shop.admitted(await shop.key());
    await shop.session("ann", await shop.password());
    if (name === "web") await shop.refused(key);
    if (name === "ann") await shop.ended(session);
  });

  async function standing(shop: GuardedShop, secret: string) {
    const { data, metadata } = await shop.get("Secret", secret);
    return { data, version: metadata.resourceVersion };
  }
});

describe("an object that goes", () => {
  it("takes its Secrets along, and leaves those of others alone", async () => {
    const till = declared("ApiKey", "till", { secretName: "till-key" });
    const shop = await openGuardedShop(fleet, web, till, ann, secretOf("of-ben", { password: "correct horse" }), ben);
    const keys = [await shop.key(), await shop.key("till-key")];
    for (const name of ["web", "till"]) await shop.remove("ApiKey", name);
    for (const name of ["ann", "ben"]) await shop.remove("ProjectUser", name);
    for (const key of keys) await shop.refused(key);
    const own = ["web-api-key", "till-key", "ann-password", "ann-user-hash"];
    await eventually(async () => {
      for (const name of [...own, "ben-user-hash"]) expect(await isGone(shop, name), name).toBe(true);
    }, within);
    for (const name of ["of-ben", "shop-signing"]) await shop.get("Secret", name);
  });

  it("leaves a copy in another namespace alone, with its labels on", async () => {
    const [shop, elsewhere] = [await openGuardedShop(fleet, web), await newTenant(fleet)];
    const { secrets } = await backupOf(shop);
    await elsewhere.create(...secrets);
    await shop.remove("ApiKey", "web");
    await eventually(async () => expect(await isGone(shop, "web-api-key")).toBe(true), within);
    for (const { metadata } of secrets) await elsewhere.get("Secret", metadata.name);
  });
});

describe("a quota that lets no Secret be written", () => {
  it("costs a new object its credential and nobody else anything, until there is room", async () => {
    const shop = await openGuardedShop(fleet, web, ann);
    const [key, session] = [await shop.key(), await shop.session("ann", await shop.password())];
    await forbidSecrets(shop);
    await shop.create(declared("ApiKey", "late"));
    await shop.reports("ApiKey", "late", "SecretNotWritten");
    await lookedAgain(shop);
    await shop.admitted(key);
    await shop.goesOn(session);
    await shop.remove("ResourceQuota", "none");
    await lookedAgain(shop);
    await shop.reports("ApiKey", "late", "Ready", within);
    await shop.admitted(await shop.key("late-api-key"));
  });
});
