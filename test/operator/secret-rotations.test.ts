// Credentials that change by the spec, on a fleet: rotated keys and passwords with their
// overlap, keys that expire; who is let in before and afterwards by every replica, and what the
// objects say.

import { setTimeout as sleep } from "node:timers/promises";
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

const dayMs = 86_400_000;
/**
 * Long enough for a quick machine to see what holds until then. On a slow one that may be over
 * before it is asked, and nothing depends on it.
 */
const soonMs = 8_000;

/** As a spec names it. */
function soon(): string {
  return new Date(Math.ceil((Date.now() + soonMs) / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
}

/** No replica refuses it before the moment. An answer that comes later says nothing of that. */
async function admittedUntil(shop: GuardedShop, as: string, moment: number): Promise<void> {
  while (Date.now() < moment) {
    const isAdmitted = (status: number) => expect(status === 200 || Date.now() >= moment).toBe(true);
    await shop.everywhere("/api/notes", { as }, ({ status }) => isAdmitted(status), atOnce);
    await sleep(100);
  }
}

describe.concurrent("rotation.id of an ApiKey", () => {
  it("changed: a new key works at once, and the former one until its grace period is over", async () => {
    const shop = await openGuardedShop(fleet, web());
    const former = await shop.key();
    const started = Date.now();
    const during = await edited(shop, "ApiKey", "web", rotation("a", "24h"));
    const second = await shop.key();
    expect(second).not.toBe(former);
    for (const each of [second, former]) await shop.admitted(each, atOnce);
    const ends = Date.parse(String(during["previousKeyExpiresAt"]));
    // The operator counts whole seconds.
    expect(ends).toBeGreaterThan(started + dayMs - 1_000);
    expect(ends).toBeLessThanOrEqual(Date.now() + dayMs);
    expect(during).toMatchObject({ rotationID: "a", secretName: "web-api-key" });
    expect(await shop.reportedOf("ApiKey", "web", "CredentialRotated")).toContain('"web-api-key" holds a new key');

    const endsAfter = Math.floor(Date.now() / 1_000) * 1_000 + soonMs;
    await shop.edit("ApiKey", "web", rotation("b", `${soonMs / 1_000}s`));
    await admittedUntil(shop, second, endsAfter);
    await shop.refused(second);
    await shop.admitted(await shop.key());
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
    await edited(shop, "ApiKey", "web", { expiresAt: "2099-01-01T00:00:00Z" });
    await shop.admitted(key, atOnce);
    const expiresAt = soon();
    await shop.edit("ApiKey", "web", { expiresAt });
    await admittedUntil(shop, key, Date.parse(expiresAt));
    await shop.refused(key);
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
    await edited(shop, "ApiKey", "web", { ...rotation("a"), expiresAt: "2099-01-01T00:00:00Z" });
    const key = await shop.key();
    for (const each of [key, former]) await shop.admitted(each, atOnce);
    const expiresAt = soon();
    await shop.edit("ApiKey", "web", { expiresAt });
    await Promise.all([key, former].map((each) => admittedUntil(shop, each, Date.parse(expiresAt))));
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
