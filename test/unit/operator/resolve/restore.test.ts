import { createSecretKey, randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../../operator/resolve/mint.ts";
import { CredentialWorld, start } from "../../../support/fleet/credential-world.ts";
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
  world.hmacKey = createSecretKey(randomBytes(32));
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

  it("waits for an edited key of the one before to go, and has no use for an edited password", async () => {
    world.secrets.edit("ada-password", "password", "by hand");
    world.secrets.edit("ci-api-key", "apiKey", "1");
    const { first } = await anew();
    expect(world.reasons(first.verdicts, "ci")).toEqual(["SecretConflict"]);
    expect(world.text("ada-password", "password")).not.toBe("by hand");
    expect(world.liveKeys()).not.toContain(sha256Hex("1"));
  });

  it.each([
    ["made by another installation", becomesAnotherInstallation],
    ["whose seal was taken away", () => unseal()],
  ])("uses no Secret %s, and leaves it as it is: it may come from a backup", async (_, happens) => {
    happens();
    const { first } = await anew();
    expect(first.writes).toEqual([]);
    expect(world.reasons(first.verdicts, "shop")).toEqual(["SecretConflict"]);
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
    ["passwords without their hash Secrets", ["ada-user-hash"]],
    ["everything", []],
  ] as const;

  it.each(families)("with %s loses no credential, mints none, and tells of each", async (_, lost) => {
    const { before, minted, first } = await anew(lost);
    expect(world.liveKeys()).toEqual(before.keys);
    expect(world.login().revision).toBe(before.login.revision);
    expect(world.kids()).toEqual(before.kids);
    expect(minted).toBe(0);
    const restored = first.events.filter(({ note }) => note.reason === "CredentialRestored");
    expect(new Set(restored.map(({ subject }) => subject.name))).toEqual(new Set(["shop", "ada", "ci"]));
  });

  it("is taken in another installation, too, which hashes passwords again", async () => {
    becomesAnotherInstallation();
    const { before, minted } = await anew();
    expect([world.liveKeys(), minted]).toEqual([before.keys, 0]);
    expect(isFakeHashOf(world.login().hash ?? "", world.text("ada-password", "password"))).toBe(true);
    expect(world.readable.passwords.size).toBe(1);
  });

  it("is not taken where the platform does not allow it, unless the operator was told to take all", async () => {
    world.mayAdopt = false;
    const backup = world.secrets.save();
    const { before, minted } = await anew();
    expect([world.liveKeys().includes(before.keys[0] ?? ""), minted]).toEqual([false, 1]);
    world.secrets.restore(backup);
    world.restoresAll = true;
    await world.settle();
    expect([world.liveKeys(), world.kids()]).toEqual([before.keys, before.kids]);
  });

  it("is not taken once another credential is published of the object", async () => {
    const backup = world.secrets.save();
    world.asksToRestore = false;
    await anew();
    const [keys, kids] = [world.liveKeys(), world.kids()];
    const earlier = sha256Hex(Buffer.from(backup.get("ci-api-key")?.data.get("apiKey") ?? "").toString());
    world.secrets.restore(backup);
    world.asksToRestore = true;
    await world.settle();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey")), ...keys]);
    expect(world.liveKeys()).not.toContain(earlier);
    expect(world.kids()).toEqual(kids);
  });

  it("without the signing Secret keeps keys and passwords", async () => {
    const { before, minted } = await anew(["shop-signing"]);
    expect([world.liveKeys(), minted]).toEqual([before.keys, 0]);
    expect(world.kids()).not.toEqual(before.kids);
  });

  it("without any Secret of a key makes a first one, as for a new object", async () => {
    const { before, minted } = await anew(["ci-api-key"]);
    expect(minted).toBe(1);
    expect(world.liveKeys()).not.toEqual(before.keys);
  });
});

describe("what a restored Secret says", () => {
  const at = (cost: string) => `$argon2id$v=19$${cost}$${"s".repeat(22)}$${"t".repeat(43)}`;
  const former = { sha256: sha256Hex("2"), retiresAt: start / 1000 + 60 };
  const rotationOfKey = { id: "a", rotatedAt: "2026-06-01T12:00:00Z", former };

  beforeEach(() => {
    world.mayAdopt = true;
    world.asksToRestore = true;
  });

  it.each([
    [{ hash: at("m=4194304,t=50,p=1") }],
    [{ hash: at("m=0,t=0,p=0") }],
    [{ hash: "x" }],
    [{ changedAt: "yesterday" }],
  ])("of a user with %o, which jsonplane writes nowhere, counts as nothing", async (wrong) => {
    const record = JSON.parse(world.text("ada-user-hash", "record"));
    world.secrets.edit("ada-user-hash", "record", JSON.stringify({ ...record, ...wrong }));
    await anew();
    expect(world.login().hash).toBe(fakeHash(world.text("ada-password", "password"), 2));
  });

  it.each([
    [{ former: null }],
    [{ former: { ...former, sha256: "" } }],
    [{ former: { ...former, retiresAt: 1e300 } }],
    [{ rotatedAt: "" }],
    [{ id: 1 }],
  ])("of a key with %o, which jsonplane writes nowhere, counts as nothing", async (wrong) => {
    const annotation = JSON.stringify({ ...rotationOfKey, ...wrong });
    world.secrets.annotate("ci-api-key", "jsonplane.io/rotation", annotation);
    const { minted } = await anew();
    expect([world.liveKeys(), minted]).toEqual([[sha256Hex(world.text("ci-api-key", "apiKey"))], 0]);
  });

  it("is used where it is well-formed, whoever wrote it", async () => {
    world.secrets.edit("ci-api-key", "apiKey", "1");
    world.secrets.annotate("ci-api-key", "jsonplane.io/rotation", JSON.stringify(rotationOfKey));
    await anew();
    expect(world.liveKeys()).toEqual([sha256Hex("1"), former.sha256]);
  });
});

describe("Secrets without a valid HMAC, of objects that are served", () => {
  it("are made again: the former key has its grace period, and the signing keys are the published ones", async () => {
    const before = { keys: world.liveKeys(), login: world.login(), kids: world.kids() };
    unseal();
    world.secrets.edit("ci-api-key", "apiKey", "1");
    world.secrets.edit("ada-password", "password", "planted");
    const ring = JSON.parse(world.text("shop-signing", "ring"));
    world.secrets.edit("shop-signing", "ring", JSON.stringify({ keys: [{ ...ring.keys[0], kid: "planted" }] }));
    await world.settle();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey")), ...before.keys]);
    expect(world.liveKeys()).not.toContain(sha256Hex("1"));
    expect(world.text("ada-password", "password")).not.toBe("planted");
    expect(isFakeHashOf(world.login().hash ?? "", world.text("ada-password", "password"))).toBe(true);
    expect(world.kids()).toEqual(before.kids);
  });
});
