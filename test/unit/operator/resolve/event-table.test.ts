// The table of docs/reference/secrets.md, row by row, through the whole resolve stage.

import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../../operator/resolve/mint.ts";
import { CredentialWorld, day, start } from "../../../support/fleet/credential-world.ts";
import { isFakeHashOf } from "../../../support/fleet/fake-hash.ts";

let world: CredentialWorld;
beforeEach(async () => {
  world = new CredentialWorld();
  await world.settle();
});

const rotation = (id: string, gracePeriod = "24h") => ({ rotation: { id, gracePeriod } });

function reported(resolution: { readonly events: readonly { readonly note: { readonly reason: string } }[] }) {
  return resolution.events.map(({ note }) => note.reason);
}

describe("the Secret of an API key", () => {
  it("is made with the first run, and people are told once", async () => {
    const fresh = new CredentialWorld();
    expect(reported(await fresh.reconcile())).toEqual(["CredentialMinted", "CredentialMinted"]);
    expect(reported(await fresh.reconcile())).toEqual([]);
  });

  it.each([
    ["deleted", () => world.secrets.remove("ci-api-key")],
    ["with apiKey edited", () => world.secrets.edit("ci-api-key", "apiKey", "jp_mine")],
    ["without its annotation", () => world.secrets.annotate("ci-api-key", "jsonplane.io/rotation", undefined)],
  ])("%s: a new key is made, and the former one works until the grace period ends", async (_, lose) => {
    const before = world.liveKeys();
    lose();
    const { events } = await world.reconcile();
    expect(reported({ events })).toEqual(["CredentialRotated"]);
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey")), ...before]);
    expect((await world.reconcile()).writes).toEqual([]);
    world.now = start + day;
    await world.reconcile();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey"))]);
  });

  it("deleted, with nothing published: a new key is made, and no other works", async () => {
    world.secrets.remove("ci-api-key");
    world.published = undefined;
    await world.reconcile();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey"))]);
  });

  it("with nothing published: it is used as it is", async () => {
    const before = world.liveKeys();
    world.published = undefined;
    expect((await world.reconcile()).writes).toEqual([]);
    expect(world.liveKeys()).toEqual(before);
  });

  it("deleted together with a new rotation.id: both are done", async () => {
    const before = world.liveKeys();
    world.secrets.remove("ci-api-key");
    world.specs.key = rotation("b");
    await world.settle();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey")), ...before]);
    expect(world.readable.keys.size).toBe(2);
  });

  it.each(["id", "baseURL"])("with %s edited: it is put right, and the key stays", async (entry) => {
    const [right, key] = [world.text("ci-api-key", entry), world.text("ci-api-key", "apiKey")];
    world.secrets.edit("ci-api-key", entry, "mine");
    const { annotations } = world.secrets.find("ci-api-key")?.metadata ?? {};
    expect(reported(await world.reconcile())).toEqual(["SecretRepaired"]);
    expect(world.secrets.find("ci-api-key")?.metadata.annotations).toEqual(annotations);
    expect(world.text("ci-api-key", entry)).toBe(right);
    expect(world.text("ci-api-key", "apiKey")).toBe(key);
  });

  it("of an ApiKey with a new rotation.id: a new key, and the old one until its grace period ends", async () => {
    const before = world.text("ci-api-key", "apiKey");
    Object.assign(world.specs.key, rotation("b", "1h"));
    const resolution = await world.reconcile();
    expect(reported(resolution)).toEqual(["CredentialRotated"]);
    expect(resolution.nextAt).toBe(start + 3_600_000);
    const after = world.text("ci-api-key", "apiKey");
    expect(world.liveKeys()).toEqual([sha256Hex(after), sha256Hex(before)]);
    expect(world.statuses.get("ci-1")).toMatchObject({ previousKeyExpiresAt: "2026-06-01T13:00:00Z" });
    world.now = start + 3_600_000;
    expect((await world.reconcile()).nextAt).toBeUndefined();
    expect(world.published?.keys.size).toBe(1);
    expect(world.statuses.get("ci-1")).not.toHaveProperty("previousKeyExpiresAt");
  });

  it("of an ApiKey that has expired: it says so, at the very moment", async () => {
    Object.assign(world.specs.key, { expiresAt: "2026-06-02T12:00:00Z" });
    const before = await world.reconcile();
    expect(before.nextAt).toBe(start + day);
    expect(world.reasons(before.verdicts, "ci")).toEqual([]);
    world.now = start + day;
    const after = await world.reconcile();
    expect(world.reasons(after.verdicts, "ci")).toEqual(["Expired"]);
    expect(after.nextAt).toBeUndefined();
    expect(world.liveKeys()).toEqual([]);
  });

  it("that another ApiKey wants too belongs to the first", async () => {
    const fresh = new CredentialWorld();
    fresh.specs.key = { secretName: "ada-password" };
    const { verdicts } = await fresh.reconcile();
    expect(fresh.reasons(verdicts, "ci")).toEqual(["SecretConflict"]);
    expect(fresh.reasons(verdicts, "ada")).toEqual([]);
  });

  it("made immutable, is left alone while nothing has to change, and then a person is asked", async () => {
    world.secrets.edit("ci-api-key", "baseURL", "elsewhere");
    world.secrets.freeze("ci-api-key");
    const before = world.liveKeys();
    expect((await world.reconcile()).writes).toEqual([]);
    Object.assign(world.specs.key, rotation("b"));
    const { writes, verdicts } = await world.reconcile();
    expect(writes).toEqual([]);
    expect(world.reasons(verdicts, "ci")).toEqual(["SecretConflict"]);
    expect(world.liveKeys()).toEqual(before);
    world.secrets.remove("ci-api-key");
    await world.settle();
    expect(world.liveKeys()).toHaveLength(2);
  });
});

describe("a generated password", () => {
  it("deleted: a new one is made, and sessions end", async () => {
    const before = world.login();
    world.secrets.remove("ada-password");
    expect(reported(await world.reconcile())).toEqual(["CredentialRotated"]);
    expect(isFakeHashOf(world.login().hash ?? "", world.text("ada-password", "password"))).toBe(true);
    expect(world.login().revision).not.toBe(before.revision);
    expect((await world.reconcile()).writes).toEqual([]);
  });

  it("edited: the edit is adopted and sessions end", async () => {
    const before = world.login();
    world.secrets.edit("ada-password", "password", "of her own");
    expect(reported(await world.reconcile())).toEqual(["PasswordAdopted"]);
    expect(isFakeHashOf(world.login().hash ?? "", "of her own")).toBe(true);
    expect(world.login().revision).not.toBe(before.revision);
    expect(reported(await world.reconcile())).toEqual([]);
  });

  it("keeps what was adopted while rotation is taken out and put back", async () => {
    world.specs.user = { rotation: { id: "a" } };
    await world.settle();
    world.specs.user = {};
    world.secrets.edit("ada-password", "password", "of her own");
    await world.settle();
    world.specs.user = { rotation: { id: "a" } };
    await world.settle();
    expect(world.text("ada-password", "password")).toBe("of her own");
  });

  it("with a new rotation.id: a new one, and sessions end", async () => {
    const before = [world.text("ada-password", "password"), world.login().revision];
    world.specs.user = { rotation: { id: "b" } };
    expect(reported(await world.reconcile())).toEqual(["CredentialRotated"]);
    expect(world.text("ada-password", "password")).not.toBe(before[0]);
    expect(world.login().revision).not.toBe(before[1]);
  });

  it("takes the place of one that came from a Secret of the spec, once that is named no more", async () => {
    const fresh = new CredentialWorld();
    fresh.secrets.put("given", { pw: "one" });
    fresh.specs.user = { passwordSecretRef: { name: "given", key: "pw" } };
    await fresh.settle();
    expect(fresh.secrets.names()).not.toContain("ada-password");
    fresh.specs.user = {};
    await fresh.settle();
    expect(isFakeHashOf(fresh.login().hash ?? "", fresh.text("ada-password", "password"))).toBe(true);
  });
});

describe("the hash Secret of a user", () => {
  const losses = [
    ["deleted", () => world.secrets.remove("ada-user-hash")],
    ["edited", () => world.secrets.edit("ada-user-hash", "record", '{"hash":"00","changedAt":"x"}')],
  ] as const;

  it.each(losses)("%s: written again with what is published, and nothing is hashed", async (_, lose) => {
    const before = world.login();
    lose();
    expect(reported(await world.reconcile())).toEqual(["SecretRepaired"]);
    expect(world.login()).toEqual(before);
    expect((await world.reconcile()).writes).toEqual([]);
    expect(world.hashed).toHaveLength(1);
  });

  it.each(losses)("%s, with nothing published: the password is hashed again, and no session ends", async (_, lose) => {
    const { revision } = world.login();
    lose();
    world.published = undefined;
    await world.reconcile();
    expect(isFakeHashOf(world.login().hash ?? "", world.text("ada-password", "password"))).toBe(true);
    expect(world.login().revision).toBe(revision);
  });
});

describe("a rotation that was interrupted after its write", () => {
  it("of a key goes on with that key, and the former one has its grace period", async () => {
    const before = world.liveKeys();
    world.specs.key = rotation("b");
    await expect(world.reconcile(1)).rejects.toThrow("");
    const key = world.text("ci-api-key", "apiKey");
    await world.settle();
    expect(world.liveKeys()).toEqual([sha256Hex(key), ...before]);
  });

  it("gives way to another rotation: the key that clients have is the former one", async () => {
    const before = world.liveKeys();
    world.specs.key = rotation("b");
    await expect(world.reconcile(1)).rejects.toThrow("");
    world.specs.key = rotation("c");
    await world.settle();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey")), ...before]);
    expect(world.readable.keys.size).toBe(3);
  });

  it("is not taken for one of an older backup with the same id", async () => {
    world.specs.key = rotation("b");
    await world.settle();
    const old = world.secrets.find("ci-api-key");
    world.specs.key = rotation("c");
    await world.settle();
    const current = world.liveKeys()[0];
    if (old !== undefined) world.secrets.restore(new Map([...world.secrets.save(), ["ci-api-key", old]]));
    await world.settle();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey")), current]);
    expect(world.readable.keys.size).toBe(4);
  });
});

describe("the signing Secret", () => {
  it("deleted: restored from what is published, and keys, logins and sessions go on", async () => {
    const [kids, keys, login] = [world.kids(), world.liveKeys(), world.login()];
    world.secrets.remove("shop-signing");
    const resolution = await world.reconcile();
    expect(resolution.ringReplaced).toBe(false);
    expect(reported(resolution)).toContain("SecretRepaired");
    expect(world.kids()).toEqual(kids);
    expect(world.liveKeys()).toEqual(keys);
    expect(world.login()).toEqual(login);
    expect((await world.settle()).writes).toEqual([]);
    expect(world.hashed).toHaveLength(1);
  });

  it("deleted with nothing published, of a Project that was served: people are told as well", async () => {
    world.statuses.set("shop-1", { liveGeneration: 1 });
    world.secrets.remove("shop-signing");
    world.published = undefined;
    expect((await world.reconcile()).ringReplaced).toBe(true);
  });

  it("of somebody else: the Project waits for a person, and nothing is overwritten", async () => {
    const fresh = new CredentialWorld();
    fresh.secrets.put("shop-signing", { ring: "mine" });
    const { verdicts, writes } = await fresh.reconcile();
    expect(fresh.reasons(verdicts, "shop")).toEqual(["SecretConflict"]);
    expect(writes).toEqual([]);
  });
});

describe("the Secret that a user's password comes from", () => {
  beforeEach(async () => {
    world.secrets.put("given", { pw: "one" });
    world.specs.user = { passwordSecretRef: { name: "given", key: "pw" } };
    await world.settle();
  });

  it("changed: followed, and sessions end", async () => {
    const before = world.login();
    world.secrets.put("given", { pw: "two" });
    expect(reported(await world.reconcile())).toEqual(["PasswordAdopted"]);
    expect(isFakeHashOf(world.login().hash ?? "", "two")).toBe(true);
    expect(world.login().revision).not.toBe(before.revision);
  });

  it("deleted: the login goes on, and the condition says what is missing", async () => {
    const before = world.login();
    world.secrets.remove("given");
    const { verdicts } = await world.reconcile();
    expect(world.reasons(verdicts, "ada")).toEqual(["SecretNotFound"]);
    expect(world.login()).toEqual(before);
  });
});

describe("a suspended Project", () => {
  it("has nothing made, rotated or repaired, and all of it once it goes on", async () => {
    const keys = world.liveKeys();
    world.specs.suspend = true;
    world.specs.key = rotation("2");
    world.specs.annotation = "now";
    world.secrets.edit("ci-api-key", "baseURL", "elsewhere");
    const { writes, events } = await world.reconcile();
    expect([writes, events]).toEqual([[], []]);
    expect(world.liveKeys()).toEqual(keys);
    world.specs.suspend = false;
    expect(reported(await world.reconcile())).toContain("CredentialRotated");
    expect(world.liveKeys()).toHaveLength(2);
  });
});
