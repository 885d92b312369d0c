import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../../operator/resolve/mint.ts";
import { CredentialWorld } from "../../../support/fleet/credential-world.ts";

let world: CredentialWorld;
beforeEach(async () => {
  world = new CredentialWorld();
  await world.settle();
});

const rotation = (id: string) => ({ rotation: { id, gracePeriod: "24h" } });

describe("a backup that is restored under new UIDs", () => {
  const families = [
    ["hash Secrets without what they are of", ["ci-api-key", "ada-password"], ["KeyNotRetrievable"]],
    ["keys and passwords without their hash Secrets", ["ci-key-hash", "ada-user-hash"], []],
    ["everything", [], []],
  ] as const;

  /** Another cluster, another Redis: no status, nothing published. */
  async function restore(lost: readonly string[]) {
    world.specs.key = rotation("a");
    world.specs.user = { rotation: { id: "a" } };
    await world.settle();
    const before = { keys: world.liveKeys().slice(0, 1), login: world.login(), kids: world.kids() };
    for (const name of lost) world.secrets.remove(name);
    world.published = undefined;
    world.statuses = new Map();
    world.uids = "2";
    const minted = world.readable.keys.size;
    const first = await world.reconcile();
    await world.settle();
    return { before, minted: world.readable.keys.size - minted, first };
  }

  it.each(families)("with %s loses no credential, and mints none", async (_, lost, reason) => {
    const { before, minted, first } = await restore(lost);
    expect(world.liveKeys()).toEqual(expect.arrayContaining([...before.keys]));
    expect(world.login().revision).toBe(before.login.revision);
    expect(world.kids()).toEqual(before.kids);
    expect(minted).toBe(0);
    expect(world.reasons(first.verdicts, "ci")).toEqual(reason);
  });

  it("without the signing Secret keeps keys and passwords by what shows them", async () => {
    const { before, minted } = await restore(["shop-signing"]);
    expect(world.liveKeys()).toEqual(before.keys);
    expect(minted).toBe(0);
    expect(world.kids()).not.toEqual(before.kids);
  });

  it("without the signing Secret and what shows them says that they are lost, and mints none behind anyone's back", async () => {
    const { minted, first } = await restore(["shop-signing", "ci-api-key", "ada-password"]);
    expect([...world.reasons(first.verdicts, "ci"), ...world.reasons(first.verdicts, "ada")]).toEqual([
      "KeyLost",
      "KeyLost",
    ]);
    expect(minted).toBe(0);
    world.specs.key = rotation("new");
    world.specs.user = { rotation: { id: "new" } };
    await world.settle();
    expect(world.liveKeys()).toHaveLength(1);
    expect(world.login().hash).toBeDefined();
  });

  it("together with a new rotation.id does both", async () => {
    const { before } = await restore(["ci-key-hash", "ada-user-hash"]);
    for (const name of ["ci-key-hash", "ada-user-hash"]) world.secrets.remove(name);
    world.published = undefined;
    world.statuses = new Map();
    world.specs.key = rotation("b");
    world.specs.user = { rotation: { id: "b" } };
    await world.settle();
    expect(world.liveKeys()).toEqual([sha256Hex(world.text("ci-api-key", "apiKey")), ...before.keys]);
    expect(world.login().revision).not.toBe(before.login.revision);
  });

  it("without any Secret of a key makes a first one, as for a new object", async () => {
    const { before, minted } = await restore(["ci-api-key", "ci-key-hash"]);
    expect(minted).toBe(1);
    expect(world.liveKeys()).not.toEqual(before.keys);
  });
});
