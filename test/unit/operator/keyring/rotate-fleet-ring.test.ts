import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Keyring, newKeyringText, parseKeyring } from "../../../../core/config/keyring.ts";
import { ensureFleetRing } from "../../../../operator/keyring/fleet-ring.ts";
import {
  FleetRingUnusable,
  hmacKeyEntry,
  readHmacKey,
  ringAnnotations,
} from "../../../../operator/keyring/ring-secret.ts";
import { type Rotation, rotateFleetRing } from "../../../../operator/keyring/rotate-fleet-ring.ts";
import type { KubeApi, KubeObject } from "../../../../operator/kube/api.ts";
import { createRestApi } from "../../../../operator/kube/rest-api.ts";
import { type Fault, noFaults } from "../../../support/fake-api/fake-api-faults.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

const namespace = "jsonplane-system";
const at = ["/secrets", namespace, "jsonplane-keyring"] as const;
const clock = manualClock();

let server: FakeApiServer;
let api: KubeApi;
let hmacKey: Uint8Array;
let ring: Keyring;
let sealedWith: Set<string>;
let replicas: Set<string>[];
let programmed: boolean;
let unknownReplicas: boolean;
let steps: string[];
let adopted: string[] = [];
let waits: string[];
let events: string[];
let ownAnnotations: Record<string, string>;

beforeEach(async () => {
  server = await startFakeApiServer();
  api = createRestApi({
    source: {
      namespace,
      current: async () => ({ server: new URL(server.url), headers: {}, tls: {} }),
      forget: () => undefined,
    },
    observe: () => undefined,
    monotonic: () => 0,
  });
  ({ keyring: ring, hmacKey } = await ensureFleetRing({ api, namespace, random: randomBytes }));
  [sealedWith, replicas, programmed, steps] = [new Set([ring.keys[0].kid]), [kidsOf(ring)], true, []];
  waits = [];
  events = [];
  unknownReplicas = false;
  ownAnnotations = {};
});
afterEach(async () => {
  await api.close();
  await server.close();
});

function hmacKeyThere(): Uint8Array | undefined {
  return readHmacKey(secret() as unknown as KubeObject);
}

function rotate(): Promise<Rotation> {
  return rotateFleetRing({
    api,
    namespace,
    random: randomBytes,
    clock,
    hmacKey,
    keyRing: {
      current: () => ring,
      adopt(next) {
        ring = next;
      },
    },
    config: {
      sealedWith: async () => sealedWith,
      async reseal() {
        sealedWith = new Set([ring.keys[0].kid]);
      },
      resealedAtRevision: () => 1,
    },
    replicas: async () => {
      if (unknownReplicas) throw new Error("Redis is away");
      return replicas.map((kids) => ({ kids: [...kids], revision: programmed ? 1 : 0 }));
    },
    annotations: () => ownAnnotations,
    onStep: (step) => void steps.push(step),
    onAdopted: (kids) => void adopted.push(...kids),
    onWaiting: (why) => void waits.push(why),
    onHmacKeyRestored: () => void events.push("restored"),
  });
}

function kidsOf({ keys }: Keyring): Set<string> {
  return new Set(keys.map(({ kid }) => kid));
}

function secret() {
  const found = server.objects.get(...at);
  if (found === undefined) throw new Error("There is no Secret");
  return found;
}

function annotations(): Record<string, string> {
  return (secret().metadata["annotations"] ?? {}) as Record<string, string>;
}

function annotate(value: string): void {
  const { metadata, ...rest } = secret();
  const notes = { ...annotations(), [ringAnnotations.rotate]: value, other: "stays" };
  server.objects.replace(at[0], { ...rest, metadata: { ...metadata, annotations: notes } });
}

function written(): Keyring {
  const data = secret()["data"] as Record<string, string>;
  return parseKeyring(Buffer.from(data["keyring.json"] ?? "", "base64").toString());
}

function write(text: string): void {
  const { metadata, ...rest } = secret();
  server.objects.replace(at[0], { ...rest, metadata, data: { "keyring.json": Buffer.from(text).toString("base64") } });
}

/** What a mounted Secret does after a while. */
function filesFollow(): void {
  replicas = replicas.map(() => kidsOf(written()));
}

const faults: Readonly<Record<string, Fault>> = {
  reset: { kind: "reset" },
  resetAfter: { kind: "resetAfter" },
  status: { kind: "status", code: 500, reason: "InternalError" },
};
const round = fc.record({
  goesWrong: fc.constantFrom("nothing", "nothing", "reset", "resetAfter", "status", "crash"),
  files: fc.boolean(),
  replicas: fc.constantFrom(0, 1, 2),
});

/**
 * One call of the driver, while replicas come and go, files follow or don't, and something goes
 * wrong.
 */
async function troubled(given: typeof round extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
  // A replica that starts mounts the Secret as it is.
  while (replicas.length < given.replicas) replicas.push(kidsOf(written()));
  replicas.length = Math.min(replicas.length, given.replicas);
  if (given.files) filesFollow();
  server.setFaults(({ verb }) => (verb === "replace" ? faults[given.goesWrong] : undefined));
  await rotate().catch(() => undefined);
  // The next leader knows the ring from the Secret alone.
  if (given.goesWrong === "crash") ring = (await ensureFleetRing({ api, namespace, random: randomBytes })).keyring;
  nothingIsOutOfReach();
}

function nothingIsOutOfReach(): void {
  for (const kid of sealedWith) expect(kidsOf(written())).toContain(kid);
  for (const kids of replicas) expect(kids).toContain(ring.keys[0].kid);
}

describe("the fleet's ring at the start", () => {
  it("is made once, and labelled so that no sweep of others' Secrets takes it", async () => {
    expect(secret().metadata.labels).toEqual({ "app.kubernetes.io/managed-by": "jsonplane" });
    const again = await ensureFleetRing({ api, namespace, random: randomBytes });
    expect([again.keyring, again.hmacKey]).toEqual([ring, hmacKey]);
  });

  it("is the other's when two operators start at the same moment", async () => {
    server.objects.remove(...at);
    const rings = await Promise.all([1, 2, 3].map(() => ensureFleetRing({ api, namespace, random: randomBytes })));
    expect(new Set(rings.map(({ keyring }) => keyring.keys[0].kid)).size).toBe(1);
  });

  it("gets the key that proves Secrets beside it, one for all, where there is none, and that is reported once", async () => {
    const { [hmacKeyEntry]: _, ...data } = secret()["data"] as Readonly<Record<string, string>>;
    server.objects.replace(at[0], { ...secret(), data });
    const onHmacKeyMade = () => void events.push("made");
    const ensure = () => ensureFleetRing({ api, namespace, random: randomBytes, onHmacKeyMade });
    const rings = await Promise.all([1, 2, 3].map(ensure));
    expect(events).toEqual(["made"]);
    for (const each of rings) expect(each.hmacKey).toEqual(hmacKeyThere());
    expect(written()).toEqual(ring);
  });

  it("is refused without its HMAC key where Redis is in use: keys and passwords would be replaced", async () => {
    const { [hmacKeyEntry]: _, ...data } = secret()["data"] as Readonly<Record<string, string>>;
    server.objects.replace(at[0], { ...secret(), data });
    const ensuring = ensureFleetRing({ api, namespace, random: randomBytes, isSealed: async () => true });
    await expect(ensuring).rejects.toThrow('has no entry "seal.key" of 32 bytes');
    expect(hmacKeyThere()).toBeUndefined();
  });

  it.each([
    ["{secret", "is not a key ring: The key ring's file is not JSON"],
    ['{"keys": [], "names": "c2VjcmV0"}', 'is not a key ring: The key ring\'s "keys" must be a list'],
  ])("is refused as %s, with what to do and without its content, and not written over", async (text, message) => {
    write(text);
    const failure = await ensureFleetRing({ api, namespace, random: randomBytes }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FleetRingUnusable);
    expect(String(failure)).toContain(`Secret jsonplane-system/jsonplane-keyring ${message}`);
    expect(String(failure)).toContain('Restore its entry "keyring.json" from a backup');
    expect(String(failure)).not.toMatch(/\{secret|c2VjcmV0/);
    await expect(rotate()).rejects.toThrow(FleetRingUnusable);
    expect(Buffer.from((secret()["data"] as Record<string, string>)["keyring.json"] ?? "", "base64").toString()).toBe(
      text,
    );
  });
});

describe("a rotation of the fleet's ring", () => {
  it("brings a new key in before it seals, and drops the former one when nothing needs it", async () => {
    const former = ring;
    expect(await rotate()).toBe("idle");
    annotate("2026-11");
    expect(await rotate()).toBe("advanced");
    expect(written().keys.map(({ kid }) => kid)[0]).toBe(former.keys[0].kid);
    expect(await rotate()).toBe("waiting");
    filesFollow();
    expect(await rotate()).toBe("advanced");
    expect(ring.keys[1]).toEqual(former.keys[0]);
    programmed = false;
    expect([await rotate(), await rotate()]).toEqual(["advanced", "waiting"]);
    programmed = true;
    expect([await rotate(), await rotate()]).toEqual(["advanced", "idle"]);
    expect(steps).toEqual(["append", "promote", "reseal", "drop"]);
    expect(ring).toEqual(written());
    expect(ring.names).toEqual(former.names);
    expect(ring.keys).toHaveLength(1);
    expect(ring.keys[0].kid).not.toBe(former.keys[0].kid);
    expect(annotations()).toEqual({
      other: "stays",
      [ringAnnotations.rotate]: "2026-11",
      [ringAnnotations.rotated]: "2026-11",
    });
  });

  it("takes a further value up once it is through", async () => {
    annotate("1");
    await rotate();
    annotate("2");
    filesFollow();
    for (let round = 0; round < 12; round += 1) {
      await rotate();
      filesFollow();
    }
    expect(steps).toEqual(["append", "promote", "reseal", "drop", "append", "promote", "reseal", "drop"]);
    expect(annotations()[ringAnnotations.rotated]).toBe("2");
  });

  it("says again what the Secret has to say where somebody wrote over it, and leaves what stands there", async () => {
    ownAnnotations = { "jsonplane.io/store-id": "4f3a", other: "of ours" };
    annotate("1");
    expect(await rotate()).toBe("advanced");
    const { rotate: asked, rotated } = ringAnnotations;
    const stays = { other: "stays", [asked]: "1", [rotated]: "1" };
    expect(annotations()).toMatchObject({ ...stays, "jsonplane.io/store-id": "4f3a" });
    write("no ring");
    const { metadata, ...rest } = secret();
    server.objects.replace(at[0], { ...rest, metadata: { ...metadata, annotations: {} } });
    await expect(rotate()).rejects.toThrow(FleetRingUnusable);
    expect(annotations()).toEqual(ownAnnotations);
    expect(secret()["data"]).toMatchObject({ "keyring.json": Buffer.from("no ring").toString("base64") });
    expect(hmacKeyThere()).toEqual(hmacKey);
  });

  it("does not take it for nobody that replicas can't be asked", async () => {
    annotate("1");
    await rotate();
    clock.advance(1e9);
    unknownReplicas = true;
    await expect(rotate()).rejects.toThrow("Redis is away");
    expect(steps).toEqual(["append"]);
  });

  it.each([
    ["the next step", {}],
    ["annotations that it must have", { "jsonplane.io/store-id": "4f3a" }],
  ])("writes nothing on a Secret that has changed since it was read, and waits: %s", async (_, notes) => {
    annotate("1");
    ownAnnotations = notes;
    const { replace } = api;
    const slow = {
      ...api,
      replace: (...args: Parameters<KubeApi["replace"]>) => {
        annotate("2");
        return replace.apply(api, args);
      },
    };
    const real = api;
    api = slow;
    expect(await rotate()).toBe("waiting");
    api = real;
    expect(written().keys).toHaveLength(1);
    expect(waits).toEqual(["The Secret has changed since it was read"]);
    expect(await rotate()).toBe("advanced");
    expect(annotations()).toMatchObject(notes);
  });

  it("puts the ring back that is in use when its Secret is deleted", async () => {
    server.objects.remove(...at);
    expect(await rotate()).toBe("idle");
    expect(written()).toEqual(ring);
    expect(hmacKeyThere()).toEqual(hmacKey);
  });

  it.each([
    ["another one", randomBytes(32)],
    ["none", randomBytes(1)],
  ])("puts the key back that Secrets are proved with where somebody put %s there, and tells it", async (_, key) => {
    const data = { ...(secret()["data"] as object), [hmacKeyEntry]: key.toString("base64") };
    server.objects.replace(at[0], { ...secret(), data });
    await rotate();
    await rotate();
    expect([hmacKeyThere(), written(), events]).toEqual([hmacKey, ring, ["restored"]]);
  });

  it("refuses a ring that lacks what something is sealed with, and goes on with its own", async () => {
    const own = ring;
    write(newKeyringText());
    await expect(rotate()).rejects.toThrow(`lacks keys that configuration is sealed with (${own.keys[0].kid})`);
    expect(ring).toBe(own);
  });

  it("takes over what another leader has done", async () => {
    const standby = ring;
    annotate("1");
    for (let round = 0; round < 6; round += 1) {
      await rotate();
      filesFollow();
    }
    const done = ring;
    ring = standby;
    adopted = [];
    expect(await rotate()).toBe("idle");
    expect(ring).toEqual(done);
    expect(adopted).toEqual(done.keys.map(({ kid }) => kid));
  });

  it("converges, whatever gets lost on the way, and nothing is ever sealed with a key that a replica lacks", async () => {
    let value = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 12 }), async (rounds) => {
        value += 1;
        annotate(String(value));
        for (const each of rounds) await troubled(each);
        server.setFaults(noFaults);
        if (replicas.length === 0) replicas.push(kidsOf(written()));
        for (let calm = 0; calm < 6; calm += 1) {
          filesFollow();
          await rotate();
          nothingIsOutOfReach();
        }
        expect(await rotate()).toBe("idle");
        expect(written().keys).toHaveLength(1);
        expect(sealedWith).toEqual(kidsOf(written()));
      }),
      { numRuns: countForTier(60) },
    );
  });
});
