import { beforeEach, describe, expect, it } from "vitest";
import { CredentialWorld, day, start } from "../../../support/fleet/credential-world.ts";

const minute = 60_000;

let world: CredentialWorld;
let first: string | undefined;
beforeEach(async () => {
  world = new CredentialWorld();
  await world.settle();
  first = world.signer();
});

/** What happened at each run, until nothing happens. */
async function steps(runs: number): Promise<readonly string[]> {
  const reported: string[] = [];
  for (let run = 0; run < runs; run += 1) {
    const { events, writes } = await world.reconcile();
    expect(writes.length).toBeLessThanOrEqual(1);
    reported.push(...events.map(({ note }) => note.reason));
  }
  return reported;
}

async function rotated(annotation = "1"): Promise<void> {
  world.specs.annotation = annotation;
  world.acknowledged = true;
  await steps(3);
}

describe("a signing key that is asked for by annotation", () => {
  it("joins the ring and does not sign until every replica knows the ring", async () => {
    world.acknowledged = false;
    world.specs.annotation = "1";
    expect(await steps(3)).toEqual(["SigningKeyAdded"]);
    expect(world.kids()).toHaveLength(2);
    expect(world.signer()).toBe(first);
    expect((await world.reconcile()).signingRingWaits).toBe(true);
    world.acknowledged = true;
    expect(await steps(3)).toEqual(["SigningKeyRotated"]);
    expect(world.signer()).not.toBe(first);
    expect(world.kids()).toEqual([world.signer(), first]);
    expect((await world.reconcile()).signingRingWaits).toBe(false);
  });

  it("does not sign when the acknowledgement is of a ring from before", async () => {
    world.specs.annotation = "1";
    const former = world.published;
    await world.reconcile();
    world.published = former;
    await world.reconcile();
    expect(world.signer()).toBe(first);
    await world.reconcile();
    expect(world.signer()).not.toBe(first);
  });

  it("lets the former key go once its last token has expired, and a minute later", async () => {
    await rotated();
    const gone = start + 3 * day + minute;
    expect((await world.reconcile()).nextAt).toBe(gone);
    world.now = gone - 1;
    expect(await steps(2)).toEqual([]);
    expect(world.kids()).toHaveLength(2);
    world.now = gone;
    expect(await steps(2)).toEqual(["SigningKeyRetired"]);
    expect(world.kids()).toEqual([world.signer()]);
    expect((await world.reconcile()).nextAt).toBeUndefined();
  });

  it("keeps the former key longer when tokens live longer meanwhile, and no shorter when they live shorter", async () => {
    await rotated();
    world.specs.refreshTokenTTL = "240h";
    await steps(2);
    expect((await world.reconcile()).nextAt).toBe(start + 10 * day + minute);
    world.specs.refreshTokenTTL = "1h";
    await steps(2);
    expect((await world.reconcile()).nextAt).toBe(start + 3 * day + minute);
  });

  it("keeps the former key for tokens that were made while they lived longer", async () => {
    world.specs.refreshTokenTTL = "1h";
    await steps(1);
    await rotated();
    expect((await world.reconcile()).nextAt).toBe(start + 3 * day + minute);
  });

  it.each(["1", undefined])("is made once: the annotation %s afterwards asks for nothing", async (annotation) => {
    await rotated();
    const kids = world.kids();
    world.specs.annotation = annotation;
    expect(await steps(2)).toEqual([]);
    world.specs.annotation = "1";
    expect(await steps(2)).toEqual([]);
    expect(world.kids()).toEqual(kids);
  });

  it("is not made for an annotation that the Project was born with", async () => {
    const fresh = new CredentialWorld();
    fresh.specs.annotation = "1";
    await fresh.settle();
    expect(fresh.kids()).toHaveLength(1);
  });

  it("waits its turn while another one waits for replicas, and then comes", async () => {
    world.acknowledged = false;
    world.specs.annotation = "1";
    await steps(2);
    world.specs.annotation = "2";
    await steps(2);
    expect(world.kids()).toHaveLength(2);
    world.acknowledged = true;
    expect(await steps(4)).toEqual(["SigningKeyRotated", "SigningKeyAdded", "SigningKeyRotated"]);
    expect(world.kids()).toHaveLength(3);
  });

  it("waits while the ring is full of keys whose tokens live", async () => {
    for (let count = 1; count <= 12; count += 1) await rotated(String(count));
    expect(world.kids()).toHaveLength(8);
    world.now = start + 3 * day + minute;
    await steps(4);
    expect(world.kids().length).toBeLessThanOrEqual(3);
    expect(world.readable.rings.size).toBe(9);
  });

  it("is not forgotten when the note beside the ring is edited: what may sign tokens verifies for their time", async () => {
    await rotated();
    const signer = world.signer();
    world.secrets.edit("shop-signing", "rotation", "{");
    world.specs.annotation = undefined;
    await steps(2);
    expect(world.kids()).toEqual([signer, first]);
    world.now = start + 3 * day + minute;
    await steps(2);
    expect(world.kids()).toEqual([signer]);
  });

  it("never stands in the Secret's way when that is immutable: a person is asked", async () => {
    world.secrets.freeze("shop-signing");
    world.specs.refreshTokenTTL = "1h";
    expect((await world.reconcile()).writes).toEqual([]);
    world.specs.annotation = "1";
    const { verdicts, writes } = await world.reconcile();
    expect(writes).toEqual([]);
    expect(world.reasons(verdicts, "shop")).toEqual(["SecretConflict"]);
    expect(world.signer()).toBe(first);
  });
});
