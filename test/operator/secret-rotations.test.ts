// Credentials that change by the spec, on a whole fleet: rotated keys and passwords with their overlap, keys that expire; who
// is let in before and afterwards by every replica, and what the objects say.

import { beforeAll, describe, expect, it } from "vitest";
import type { Fleet } from "../support/fleet/fleet.ts";
import { type GuardedShop, openGuardedShop } from "../support/fleet/guarded-shop.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { declared, secretOf } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

const atOnce = { withinMs: 0 };
const web = (spec: object = {}) => declared("ApiKey", "web", spec);
const rotation = (id: string, gracePeriod = "24h") => ({ rotation: { id, gracePeriod } });

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

/** Once the object says so, every replica does it; answers with the status. */
async function edited(shop: GuardedShop, kind: "ApiKey" | "ProjectUser", name: string, spec: object) {
  await shop.edit(kind, name, spec);
  await shop.reports(kind, name, "Ready");
  return (await shop.get(kind, name)).status ?? {};
}

function inSeconds(seconds: number): string {
  const at = Math.ceil(Date.now() / 1000) + seconds;
  return new Date(at * 1000).toISOString().replace(".000Z", "Z");
}

describe.concurrent("rotation.id of an ApiKey", () => {
  it("changed: a new key works at once, and the former one until its grace period is over", async () => {
    const shop = await openGuardedShop(fleet, web());
    const former = await shop.key();
    const during = await edited(shop, "ApiKey", "web", rotation("a", "30s"));
    const key = await shop.key();
    expect(key).not.toBe(former);
    for (const each of [key, former]) await shop.admitted(each, atOnce);
    const ends = Date.parse(String(during["previousKeyExpiresAt"]));
    expect(ends - Date.now()).toBeLessThanOrEqual(30_000);
    expect(during).toMatchObject({ rotationID: "a", secretName: "web-api-key" });
    expect(await shop.reportedOf("ApiKey", "web", "CredentialRotated")).toContain('"web-api-key" holds a new key');
    await shop.refused(former);
    expect(Date.now()).toBeGreaterThanOrEqual(ends);
    await shop.admitted(key, atOnce);
    await eventually(async () => {
      expect((await shop.get("ApiKey", "web")).status).not.toHaveProperty("previousKeyExpiresAt");
    });
  });

  it("changed twice: two keys work, the newest ones", async () => {
    const shop = await openGuardedShop(fleet, web());
    const first = await shop.key();
    await edited(shop, "ApiKey", "web", rotation("a"));
    const second = await shop.key();
    await edited(shop, "ApiKey", "web", rotation("b"));
    const third = await shop.key();
    await shop.refused(first, atOnce);
    for (const each of [second, third]) await shop.admitted(each, atOnce);
  });

  it("changed without a grace period: the former key is refused once the object says so", async () => {
    const shop = await openGuardedShop(fleet, web());
    const former = await shop.key();
    await edited(shop, "ApiKey", "web", rotation("a", "0s"));
    await shop.refused(former, atOnce);
    await shop.admitted(await shop.key(), atOnce);
  });

  it("taken out and put back: nothing happens", async () => {
    const shop = await openGuardedShop(fleet, web(rotation("a")));
    const key = await shop.key();
    await edited(shop, "ApiKey", "web", { rotation: null });
    await edited(shop, "ApiKey", "web", rotation("a"));
    expect(await shop.key()).toBe(key);
    await shop.admitted(key, atOnce);
  });
});

describe.concurrent("expiresAt of an ApiKey", () => {
  it("reached: the key is refused at that moment, the object says so, and a later time brings the same key back", async () => {
    const shop = await openGuardedShop(fleet, web());
    const key = await shop.key();
    const expiresAt = inSeconds(25);
    await edited(shop, "ApiKey", "web", { expiresAt });
    await shop.admitted(key, atOnce);
    await shop.refused(key);
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
    const { Ready } = await shop.reports("ApiKey", "web", "Expired");
    expect(Ready?.status).toBe("True");
    await edited(shop, "ApiKey", "web", { expiresAt: "2100-01-01T00:00:00Z" });
    await shop.admitted(key, atOnce);
    expect(await shop.key()).toBe(key);
  });

  it("in the past from the start: the key is made, and refused", async () => {
    const shop = await openGuardedShop(fleet, web({ expiresAt: "2020-01-01T00:00:00Z" }));
    await shop.reports("ApiKey", "web", "Expired");
    await shop.refused(await shop.key(), atOnce);
  });

  it("holds for a former key too, whatever its grace period says", async () => {
    const shop = await openGuardedShop(fleet, web());
    const former = await shop.key();
    await edited(shop, "ApiKey", "web", { ...rotation("a"), expiresAt: inSeconds(25) });
    const key = await shop.key();
    for (const each of [key, former]) await shop.admitted(each, atOnce);
    for (const each of [key, former]) await shop.refused(each);
  });
});

describe.concurrent("a password", () => {
  it("that was generated, with another rotation.id: a new one takes its place, and sessions end", async () => {
    const shop = await openGuardedShop(fleet, declared("ProjectUser", "ann"));
    const former = await shop.password();
    const session = await shop.session("ann", former);
    const status = await edited(shop, "ProjectUser", "ann", { rotation: { id: "a" } });
    await shop.ended(session, atOnce);
    expect((await shop.login("ann", former)).code).toBe("invalid_credentials");
    await shop.goesOn(await shop.session("ann", await shop.password()));
    expect(status).toMatchObject({ rotationID: "a", secretName: "ann-password" });
    expect(await shop.reportedOf("ProjectUser", "ann", "CredentialRotated")).toContain('"ann-password"');
    await edited(shop, "ProjectUser", "ann", { rotation: null });
    await edited(shop, "ProjectUser", "ann", { rotation: { id: "a" } });
    await shop.session("ann", await shop.password());
  });

  it("from a Secret that the spec names no longer: one is generated, and takes its place", async () => {
    const given = declared("ProjectUser", "ben", { passwordSecretRef: { name: "of-ben" } });
    const shop = await openGuardedShop(fleet, secretOf("of-ben", { password: "correct horse" }), given);
    const session = await shop.session("ben", "correct horse");
    await edited(shop, "ProjectUser", "ben", { passwordSecretRef: null });
    await shop.ended(session, atOnce);
    expect((await shop.login("ben", "correct horse")).code).toBe("invalid_credentials");
    await shop.session("ben", await shop.password("ben-password"));
    await edited(shop, "ProjectUser", "ben", { passwordSecretRef: { name: "of-ben" } });
    await shop.session("ben", "correct horse");
  });

  it("of a user that is deleted: no token of it is taken, until a user of its name has the same password", async () => {
    const ben = declared("ProjectUser", "ben", { passwordSecretRef: { name: "of-ben" } });
    const shop = await openGuardedShop(fleet, secretOf("of-ben", { password: "correct horse" }), ben);
    const session = await shop.session("ben", "correct horse");
    await shop.remove("ProjectUser", "ben");
    await shop.ended(session);
    await shop.create(ben);
    await shop.reports("ProjectUser", "ben", "Ready");
    await shop.goesOn(session);
  });
});
