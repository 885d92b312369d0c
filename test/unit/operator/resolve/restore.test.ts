import { createSecretKey, randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../../operator/resolve/mint.ts";
import { Crash, CredentialWorld, start } from "../../../support/fleet/credential-world.ts";
import { fakeHash, isFakeHashOf } from "../../../support/fleet/fake-hash.ts";

let world: CredentialWorld;
beforeEach(async () => {
  world = new CredentialWorld();
  world.specs.key = rotation("a");
  world.specs.user = { rotation: { id: "a" } };
  await world.settle();
});

const rotation = (id: string) => ({ rotation: { id, gracePeriod: "24h" } });

/** Every object under a new UID: no status, nothing published of it. */
async function anew(lost: readonly string[] = []) {
  const before = { keys: world.liveKeys(), login: world.login(), kids: world.kids() };
  for (const name of lost) world.secrets.remove(name);
  world.published = undefined;
  world.statuses = new Map();
  world.uids = "2";
  const minted = world.readable.keys.size;
  const first = await world.reconcile();
  await world.settle();
  return { before, minted: world.readable.keys.size - minted, first };
}

function becomesAnotherInstallation(): void {
  world.sealKey = createSecretKey(randomBytes(32));
}

describe("an object that is made anew under its name", () => {
  it("has nothing of what the Secrets of the one before hold: key, password and signing keys are new", async () => {
    const password = world.text("ada-password", "password");
    const { before } = await anew();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey"))]);
    expect(before.keys).not.toContain(world.liveKeys()[0]);
    expect(world.text("ada-password", "password")).not.toBe(password);
    expect(world.login().hash).toBe(fakeHash(world.text("ada-password", "password"), 2));
    expect(world.kids()).not.toEqual(before.kids);
  });

  it("does not wait for Secrets of the one before to go where they were edited", async () => {
    world.secrets.edit("ada-password", "password", "by hand");
    world.secrets.edit("ci-api-key", "apiKey", "1");
    const { first } = await anew();
    expect([...world.reasons(first.verdicts, "ci"), ...world.reasons(first.verdicts, "ada")]).toEqual([]);
    expect(world.text("ada-password", "password")).not.toBe("by hand");
    expect(world.liveKeys()).not.toContain(sha256Hex("1"));
  });

  it.each([
    ["made by another installation", becomesAnotherInstallation],
    ["whose seal was taken away", () => unseal()],
  ])("uses and changes no Secret %s", async (_, happens) => {
    happens();
    const { first } = await anew();
    expect(first.writes).toEqual([]);
    expect(first.signing).toMatchObject({ ok: false, refusal: { reason: "SecretConflict" } });
    expect(world.published).toBeUndefined();
  });

  it("says of each Secret that nothing proves what to do", async () => {
    unseal();
    world.secrets.remove("shop-signing");
    const { first } = await anew();
    expect([world.reasons(first.verdicts, "ci"), world.reasons(first.verdicts, "ada")]).toEqual([
      ["SecretConflict"],
      ["SecretConflict"],
    ]);
    world.secrets.remove("ci-api-key");
    world.secrets.remove("ci-key-hash");
    await world.settle();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey"))]);
  });
});

function unseal(): void {
  for (const name of world.secrets.names()) world.secrets.annotate(name, "jsonplane.io/seal", undefined);
}

describe("a backup that is restored under new UIDs, as its Project asks", () => {
  beforeEach(() => {
    world.mayAdopt = true;
    world.asksToRestore = true;
  });

  const families = [
    ["hash Secrets without what they are of", ["ci-api-key", "ada-password"], ["KeyNotRetrievable"]],
    ["keys and passwords without their hash Secrets", ["ci-key-hash", "ada-user-hash"], []],
    ["everything", [], []],
  ] as const;

  it.each(families)("with %s loses no credential, mints none, and tells of each", async (_, lost, reason) => {
    const { before, minted, first } = await anew(lost);
    expect(world.liveKeys()).toEqual(expect.arrayContaining(before.keys.slice(0, 1)));
    expect(world.login().revision).toBe(before.login.revision);
    expect(world.kids()).toEqual(before.kids);
    expect(minted).toBe(0);
    expect(world.reasons(first.verdicts, "ci")).toEqual(reason);
    const restored = first.events.filter(({ note }) => note.reason === "CredentialRestored");
    expect(new Set(restored.map(({ subject }) => subject.name))).toEqual(new Set(["shop", "ada", "ci"]));
  });

  it("is taken in another installation, too", async () => {
    becomesAnotherInstallation();
    const { before, minted } = await anew();
    expect([world.liveKeys(), world.login().revision, minted]).toEqual([before.keys, before.login.revision, 0]);
  });

  it("is not taken where the platform does not allow it, unless the operator was told to take all", async () => {
    world.mayAdopt = false;
    becomesAnotherInstallation();
    const { before, first } = await anew();
    expect(first.writes).toEqual([]);
    world.restoresAll = true;
    await world.settle();
    expect([world.liveKeys(), world.kids()]).toEqual([before.keys, before.kids]);
  });

  it("is left alone once another credential is published of the object", async () => {
    const backup = world.secrets.save();
    world.asksToRestore = false;
    await anew();
    const keys = world.liveKeys();
    const { login } = { login: world.login() };
    world.secrets.restore(backup);
    world.asksToRestore = true;
    await world.settle();
    expect(world.liveKeys()).toEqual(keys);
    expect(world.login()).toEqual(login);
  });

  it("without the signing Secret keeps keys and passwords", async () => {
    const { before, minted } = await anew(["shop-signing"]);
    expect([world.liveKeys(), minted]).toEqual([before.keys, 0]);
    expect(world.kids()).not.toEqual(before.kids);
  });

  it("without any Secret of a key makes a first one, as for a new object", async () => {
    const { before, minted } = await anew(["ci-api-key", "ci-key-hash"]);
    expect(minted).toBe(1);
    expect(world.liveKeys()).not.toEqual(before.keys);
  });
});

describe("a restored record", () => {
  const at = (cost: string) => `$argon2id$v=19$${cost}$${"s".repeat(22)}$${"t".repeat(43)}`;
  const of = { rotationId: "a", changedAt: "2026-06-01T12:00:00Z" };
  const userRecord = { ...of, hash: at("m=64,t=1,p=1"), revision: "r".repeat(22) };
  const keyRecord = { current: sha256Hex("1"), rotationId: "a", rotatedAt: "2026-06-01T12:00:00Z" };
  const former = { sha256: sha256Hex("2"), retiresAt: start / 1000 + 60 };

  async function restored(name: string, record: unknown) {
    world.mayAdopt = true;
    world.asksToRestore = true;
    world.secrets.edit(name, "record", JSON.stringify(record));
    return await anew(["ci-api-key", "ada-password"]);
  }

  it.each([
    [{ hash: at("m=4194304,t=50,p=1") }],
    [{ hash: at("m=0,t=0,p=0") }],
    [{ hash: "x" }],
    [{ revision: "x".repeat(100_000) }],
    [{ rotationId: 1 }],
    [{ changedAt: "yesterday" }],
  ])("of a user with %o, which jsonplane writes nowhere, counts as none", async (wrong) => {
    await restored("ada-user-hash", { ...userRecord, ...wrong });
    expect(world.login().hash).toBe(fakeHash(world.text("ada-password", "password"), 2));
  });

  it.each([
    [{ current: "x" }],
    [{ former: null }],
    [{ former: { ...former, sha256: "" } }],
    [{ former: { ...former, retiresAt: 1e300 } }],
    [{ rotatedAt: "" }],
  ])("of a key with %o, which jsonplane writes nowhere, counts as none", async (wrong) => {
    await restored("ci-key-hash", { ...keyRecord, ...wrong });
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey"))]);
  });

  it("is used where it is well-formed, whoever wrote it", async () => {
    world.secrets.edit("ci-key-hash", "record", JSON.stringify({ ...keyRecord, former }));
    await restored("ada-user-hash", userRecord);
    expect([world.login().hash, world.liveKeys()]).toEqual([userRecord.hash, [sha256Hex("1"), former.sha256]]);
  });
});

describe("Secrets without a seal", () => {
  it("are used and sealed as far as they hold what is published of the object", async () => {
    const before = { keys: world.liveKeys(), login: world.login(), kids: world.kids() };
    const hashed = world.hashed.length;
    unseal();
    await world.settle();
    expect({ keys: world.liveKeys(), login: world.login(), kids: world.kids() }).toEqual(before);
    expect(world.hashed).toHaveLength(hashed);
    becomesPublishedNowhere();
    await world.settle();
    expect({ keys: world.liveKeys(), login: world.login(), kids: world.kids() }).toEqual(before);
  });

  it("say for which rotation what is published was made where the status doesn't yet: none is made twice", async () => {
    [world.specs.key, world.specs.user] = [rotation("b"), { rotation: { id: "b" } }];
    await expect(world.reconcile(99)).rejects.toThrow(Crash);
    const before = { keys: world.liveKeys(), login: world.login() };
    unseal();
    for (const name of world.secrets.names()) world.secrets.annotate(name, "jsonplane.io/rotation", undefined);
    await world.settle();
    expect({ keys: world.liveKeys(), login: world.login() }).toEqual(before);
  });

  it("count for nothing where they hold anything else", async () => {
    const before = { keys: world.liveKeys(), login: world.login(), kids: world.kids() };
    unseal();
    world.secrets.edit("ci-api-key", "apiKey", "1");
    world.secrets.edit("ada-password", "password", "planted");
    const ring = JSON.parse(world.text("shop-signing", "ring"));
    world.secrets.edit("shop-signing", "ring", JSON.stringify({ keys: [{ ...ring.keys[0], kid: "planted" }] }));
    const { verdicts } = await world.reconcile();
    expect({ keys: world.liveKeys(), login: world.login(), kids: world.kids() }).toEqual(before);
    expect([world.reasons(verdicts, "ci"), world.reasons(verdicts, "ada")]).toEqual([
      ["KeyNotRetrievable"],
      ["SecretConflict"],
    ]);
  });
});

describe("a Secret that nothing proves, of an object that is served", () => {
  it("is answered with what helps, and is written over where rotation.id changes", async () => {
    world.mayAdopt = true;
    unseal();
    world.secrets.edit("ada-password", "password", "planted");
    const { verdicts } = await world.reconcile();
    const [refused] = verdicts.filter(({ name }) => name === "ada");
    expect(JSON.stringify(refused)).toContain(
      "delete the Secret, and for a new key or password change spec.rotation.id",
    );
    expect(JSON.stringify(refused)).not.toContain("adopt-data");
    world.specs.user = { rotation: { id: "b" } };
    await world.settle();
    expect(world.text("ada-password", "password")).not.toBe("planted");
    expect(isFakeHashOf(world.login().hash ?? "", world.text("ada-password", "password"))).toBe(true);
  });
});

function becomesPublishedNowhere(): void {
  world.published = undefined;
}
