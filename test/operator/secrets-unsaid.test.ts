// Secrets stand where they belong and nowhere else: everything that somebody without a right to
// Secrets could read is searched for them after they were used, mistaken, edited and rotated, while
// every part of the fleet logs all it can.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { type GuardedShop, openGuardedShop } from "../support/fleet/guarded-shop.ts";
import { declared, secretOf } from "../support/kubernetes/declared.ts";
import { everyOutput, formsOf, savedByRedis, secretsOf } from "./outputs-with-secrets.ts";

const web = declared("ApiKey", "web", { access: "Write" });
const ann = declared("ProjectUser", "ann");
const ben = declared("ProjectUser", "ben", { passwordSecretRef: { name: "of-ben" } });

let fleet: OwnFleet;

beforeAll(async () => {
  fleet = await startFleet({
    replicas: 2,
    redis: { args: ["--rdbcompression", "no"] },
    operatorArgs: ["--log-level", "debug"],
    replicaArgs: ["--log-level", "debug"],
  });
});
afterAll(() => fleet?.stop());

async function written(shop: GuardedShop, secret: string, entries: Readonly<Record<string, string>>): Promise<void> {
  await shop.patch("Secret", secret, { stringData: entries });
}

describe("passwords, keys and their hashes", () => {
  it("stand in Secrets, and in no log, Event, status, metric or description, nor in Redis where it can be read", async () => {
    const shop = await openGuardedShop(fleet, web, ann, secretOf("of-ben", { password: "correct horse" }), ben);
    const { access, refresh } = await shop.session("ann", await shop.password());
    const tokens = [access, refresh].map((token) => token.replace("Bearer ", ""));
    const secrets = new Set(["a guessed password", "jp_aguessedkey", ...tokens, ...(await secretsOf(shop))]);
    // What people do, and get wrong.
    await shop.login("ann", "a guessed password");
    await shop.refused("apikey jp_aguessedkey");
    await written(shop, "of-ben", { password: "battery staple" });
    await written(shop, "web-api-key", { apiKey: "jp_aguessedkey" });
    await written(shop, "ann-user-hash", { record: "{}" });
    await written(shop, "shop-signing", { ring: "no ring" });
    await shop.edit("ApiKey", "web", { rotation: { id: "second" } });
    await shop.edit("ProjectUser", "ann", { rotation: { id: "second" } });
    await shop.patch("Project", "shop", { metadata: { annotations: { "jsonplane.io/rotate-signing-key": "second" } } });
    await shop.reportedOf("Project", "shop", "SigningKeyRotated");
    await shop.reportedOf("ProjectUser", "ann", "CredentialRotated");
    await shop.reportedOf("ApiKey", "web", "CredentialRotated");
    await shop.admitted(await shop.key());
    for (const secret of await secretsOf(shop)) secrets.add(secret);
    expect(secrets.size).toBeGreaterThan(18);

    const found = (text: string) =>
      [...secrets].filter((secret) => formsOf(secret).some((form) => text.includes(form)));
    for (const [where, text] of Object.entries(await everyOutput(shop))) {
      expect(text.length, where).toBeGreaterThan(500);
      expect(found(text), where).toEqual([]);
    }
    const saved = await savedByRedis(fleet.redis);
    // A key's own name in Redis is its SHA-256: the key has 256 bits.
    const named = new Set([...saved.matchAll(/key:([0-9a-f]{64})/g)].map(([, sha256]) => sha256));
    expect(named.size).toBeGreaterThan(0);
    expect(found(saved).filter((secret) => !named.has(secret))).toEqual([]);
    expect(saved).not.toContain("$argon2");
  });
});
