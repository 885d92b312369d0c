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

  it("deleted: the key goes on working and is not made anew", async () => {
    const before = world.liveKeys();
    world.secrets.remove("ci-api-key");
    const { writes, events, verdicts } = await world.reconcile();
    expect([writes, events]).toEqual([[], []]);
    expect(world.reasons(verdicts, "ci")).toEqual(["KeyNotRetrievable"]);
    expect(world.liveKeys()).toEqual(before);
  });

  it("with apiKey edited: the key goes on working, and the edit is no key", async () => {
    const before = world.liveKeys();
    world.secrets.edit("ci-api-key", "apiKey", "jp_mine");
    const { verdicts } = await world.reconcile();
    expect(world.reasons(verdicts, "ci")).toEqual(["KeyNotRetrievable"]);
    expect(world.liveKeys()).toEqual(before);
    expect(world.text("ci-api-key", "apiKey")).toBe("jp_mine");
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
    world.secrets.freeze("ci-api-key");
    const before = world.liveKeys();
    world.secrets.edit("ci-api-key", "baseURL", "elsewhere");
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
  it("deleted: the login goes on working", async () => {
    const before = world.login();
    world.secrets.remove("ada-password");
    const { verdicts, writes } = await world.reconcile();
    expect(writes).toEqual([]);
    expect(world.reasons(verdicts, "ada")).toEqual(["KeyNotRetrievable"]);
    expect(world.login()).toEqual(before);
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
    fresh.secrets.remove("ada-password");
    const { writes } = await fresh.reconcile();
    expect(writes).toEqual([]);
  });
});

describe("a hash Secret", () => {
  const losses = [
    ["deleted", (name: string) => world.secrets.remove(name)],
    ["edited", (name: string) => world.secrets.edit(name, "record", '{"current":"00","rotatedAt":"x"}')],
  ] as const;

  it.each(losses)("%s: rebuilt from the Secret that shows the credential", async (_, lose) => {
    const before = [world.liveKeys(), world.login()];
    lose("ci-key-hash");
    lose("ada-user-hash");
    expect(reported(await world.reconcile())).toEqual(["SecretRepaired", "SecretRepaired"]);
    expect([world.liveKeys(), world.login()]).toEqual(before);
    expect((await world.reconcile()).writes).toEqual([]);
    expect(world.hashed).toHaveLength(1);
  });

  it.each(losses)("%s, and the shown credential too: rebuilt from what is published", async (_, lose) => {
    const before = [world.liveKeys(), world.login()];
    for (const name of ["ci-key-hash", "ada-user-hash"]) lose(name);
    for (const name of ["ci-api-key", "ada-password"]) world.secrets.remove(name);
    const { verdicts } = await world.reconcile();
    expect([world.liveKeys(), world.login()]).toEqual(before);
    expect([...world.reasons(verdicts, "ci"), ...world.reasons(verdicts, "ada")]).toEqual([
      "KeyNotRetrievable",
      "KeyNotRetrievable",
    ]);
  });

  it("deleted, with nothing published either: lost, until rotation.id changes", async () => {
    for (const name of ["ci-key-hash", "ada-user-hash", "ci-api-key", "ada-password"]) world.secrets.remove(name);
    world.published = undefined;
    const { verdicts, writes } = await world.reconcile();
    expect([...world.reasons(verdicts, "ci"), ...world.reasons(verdicts, "ada")]).toEqual(["KeyLost", "KeyLost"]);
    expect(writes).toEqual([]);
    world.specs.key = rotation("b");
    world.specs.user = { rotation: { id: "b" } };
    await world.settle();
    expect(world.liveKeys()).toHaveLength(1);
    expect(world.login().hash).toBeDefined();
  });

  it("deleted, with nothing published: made again from what is shown, unless that was edited", async () => {
    const before = [world.liveKeys(), world.login().revision];
    const lose = () => {
      for (const name of ["ci-key-hash", "ada-user-hash"]) world.secrets.remove(name);
      world.published = undefined;
    };
    lose();
    expect(reported(await world.reconcile())).toEqual(["SecretRepaired", "SecretRepaired"]);
    expect([world.liveKeys(), world.login().revision]).toEqual(before);
    lose();
    world.secrets.edit("ada-password", "password", "of her own");
    world.secrets.edit("ci-api-key", "apiKey", "1");
    const resolution = await world.reconcile();
    expect(reported(resolution)).toEqual(["PasswordAdopted"]);
    expect(world.reasons(resolution.verdicts, "ci")).toEqual(["KeyLost"]);
  });

  it("edited, with nothing published: it waits for a person", async () => {
    for (const name of ["ci-key-hash", "ada-user-hash"]) world.secrets.edit(name, "record", '{"current":"00"}');
    world.published = undefined;
    const { verdicts, writes } = await world.reconcile();
    expect([...world.reasons(verdicts, "ci"), ...world.reasons(verdicts, "ada")]).toEqual([
      "SecretConflict",
      "SecretConflict",
    ]);
    expect(writes).toEqual([]);
  });

  it("lost in the middle of a rotation costs neither the new key nor the old one its grace period", async () => {
    const before = world.liveKeys();
    world.specs.key = rotation("b");
    await expect(world.reconcile(1)).rejects.toThrow("");
    world.secrets.remove("ci-key-hash");
    await world.settle();
    expect(world.readable.keys.size).toBe(2);
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey")), ...before]);
  });

  it("lost while the shown key was edited: the published key stays, the edit is no key", async () => {
    const before = world.liveKeys();
    world.secrets.remove("ci-key-hash");
    world.secrets.edit("ci-api-key", "apiKey", "jp_mine");
    const { verdicts } = await world.reconcile();
    expect(world.reasons(verdicts, "ci")).toEqual(["KeyNotRetrievable"]);
    expect(world.liveKeys()).toEqual(before);
  });

  it("lost together with a new rotation.id: both are done", async () => {
    const before = world.liveKeys();
    world.secrets.remove("ci-key-hash");
    world.specs.key = rotation("b");
    await world.settle();
    expect(world.liveKeys()).toHaveLength(2);
    expect(world.liveKeys()).toContain(before[0]);
  });
});

describe("what a rotation left in a Secret when it was interrupted", () => {
  /** Both Secrets that people see are new, no record says so, and nothing of it is published. */
  async function interrupted(): Promise<{ readonly keys: readonly string[]; readonly revision: string | undefined }> {
    const before = { keys: world.liveKeys(), revision: world.login().revision };
    world.specs.key = rotation("b");
    world.specs.user = { rotation: { id: "b" } };
    const hashes = ["ada-user-hash", "ci-key-hash"].map((name) => world.secrets.find(name));
    await expect(world.reconcile(4)).rejects.toThrow("");
    const all = new Map(world.secrets.save());
    for (const secret of hashes) if (secret !== undefined) all.set(secret.metadata.name, secret);
    world.secrets.restore(all);
    return before;
  }

  it("is taken up", async () => {
    await interrupted();
    const shown = [world.text("ci-api-key", "apiKey"), world.text("ada-password", "password")];
    await world.settle();
    expect([world.text("ci-api-key", "apiKey"), world.text("ada-password", "password")]).toEqual(shown);
  });

  it("is no key once somebody has edited it", async () => {
    const { keys } = await interrupted();
    world.secrets.edit("ci-api-key", "apiKey", "jp_mine");
    await world.settle();
    expect(world.liveKeys()).not.toContain(sha256Hex("jp_mine"));
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey")), ...keys]);
  });

  it("is dropped when another rotation is wanted by now", async () => {
    const { keys } = await interrupted();
    const shown = [world.text("ci-api-key", "apiKey"), world.text("ada-password", "password")];
    world.specs.key = rotation("c");
    world.specs.user = { rotation: { id: "c" } };
    await world.settle();
    expect(world.liveKeys()).not.toContain(sha256Hex(shown[0] ?? ""));
    expect(world.liveKeys()).toContain(keys[0]);
    expect(world.text("ada-password", "password")).not.toBe(shown[1]);
  });

  it("is not mistaken for a Secret of that rotation from an older backup", async () => {
    world.specs.key = rotation("b");
    await world.settle();
    const old = world.secrets.find("ci-api-key");
    world.specs.key = rotation("c");
    await world.settle();
    if (old !== undefined) world.secrets.restore(new Map([...world.secrets.save(), ["ci-api-key", old]]));
    const former = sha256Hex(world.text("ci-api-key", "apiKey"));
    world.specs.key = rotation("b");
    await world.settle();
    expect(world.liveKeys()[0]).not.toBe(former);
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
    // What was made again is sealed with another key; a changed password is seen for all that.
    world.secrets.edit("ada-password", "password", "of her own");
    await world.settle();
    expect(isFakeHashOf(world.login().hash ?? "", "of her own")).toBe(true);
    expect(world.login().revision).not.toBe(login.revision);
  });

  it("deleted together with a password: once the password is put back, sessions still go on", async () => {
    const login = world.login();
    const password = world.secrets.find("ada-password");
    for (const name of ["shop-signing", "ada-password"]) world.secrets.remove(name);
    await world.settle();
    world.secrets.restore(
      new Map([...world.secrets.save(), ...(password ? [["ada-password", password] as const] : [])]),
    );
    await world.settle();
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
