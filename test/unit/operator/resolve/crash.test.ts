import { describe, expect, it } from "vitest";
import { sha256Hex } from "../../../../operator/resolve/mint.ts";
import { Crash, CredentialWorld, day, isSettled, start } from "../../../support/fleet/credential-world.ts";
import { isFakeHashOf } from "../../../support/fleet/fake-hash.ts";

interface Event {
  readonly name: string;
  /** Before the event there is a settled world, except for the first minting. */
  readonly settled: boolean;
  change(world: CredentialWorld): void;
  /** Values that may have become readable, the first ones included. */
  readonly readable: { readonly keys: number; readonly passwords: number; readonly kids: number };
  check(world: CredentialWorld, before: Before): void;
}

interface Before {
  readonly keys: readonly string[];
  readonly login: { readonly hash: string | undefined; readonly revision: string | undefined };
  readonly kids: readonly string[];
}

const rotation = (id: string) => ({ rotation: { id, gracePeriod: "24h" } });

const events: readonly Event[] = [
  {
    name: "the first minting of everything",
    settled: false,
    change: () => undefined,
    readable: { keys: 1, passwords: 1, kids: 1 },
    check: (world) => expect(world.liveKeys()).toHaveLength(1),
  },
  {
    name: "the rotation of a key",
    settled: true,
    change: ({ specs }) => Object.assign(specs.key, rotation("b")),
    readable: { keys: 2, passwords: 1, kids: 1 },
    check(world, before) {
      expect(world.liveKeys()).toHaveLength(2);
      expect(world.liveKeys()).toEqual(expect.arrayContaining([...before.keys]));
      const former = world.published?.keys.get(before.keys[0] ?? "");
      expect(former?.expiresAt).toBeGreaterThanOrEqual((start + day) / 1000);
    },
  },
  {
    name: "the rotation of a password",
    settled: true,
    change: ({ specs }) => Object.assign(specs.user, { rotation: { id: "b" } }),
    readable: { keys: 1, passwords: 2, kids: 1 },
    check: (world, before) => expect(world.login().revision).not.toBe(before.login.revision),
  },
  {
    name: "a password edited in its Secret",
    settled: true,
    change: ({ secrets }) => secrets.edit("ada-password", "password", "of her own"),
    readable: { keys: 1, passwords: 2, kids: 1 },
    check(world, before) {
      expect(world.text("ada-password", "password")).toBe("of her own");
      expect(world.login().revision).not.toBe(before.login.revision);
    },
  },
  {
    name: "a new signing key",
    settled: true,
    change: ({ specs }) => Object.assign(specs, { annotation: "2026-06" }),
    readable: { keys: 1, passwords: 1, kids: 2 },
    check(world, before) {
      expect(world.kids()).toEqual([world.signer(), ...before.kids]);
      expect(world.signer()).not.toBe(before.kids[0]);
    },
  },
  {
    name: "everything at once",
    settled: true,
    change({ specs }) {
      Object.assign(specs.key, rotation("b"));
      Object.assign(specs.user, { rotation: { id: "b" } });
      specs.annotation = "2026-06";
    },
    readable: { keys: 2, passwords: 2, kids: 2 },
    check: (world, before) => expect(world.liveKeys()).toEqual(expect.arrayContaining([...before.keys])),
  },
];

async function worldBefore({ settled }: Event): Promise<CredentialWorld> {
  const world = new CredentialWorld();
  if (settled) await world.settle();
  return world;
}

async function crash(world: CredentialWorld, writes: number): Promise<void> {
  await expect(world.reconcile(writes)).rejects.toThrow(Crash);
}

/** How many writes one run makes of the event in a world that crashed as told before. */
async function writesOf(event: Event, cuts: readonly number[]): Promise<number> {
  const world = await worldBefore(event);
  event.change(world);
  for (const cut of cuts) await crash(world, cut);
  return (await world.reconcile()).writes.length;
}

/** A signer that replicas may not know signs tokens that they refuse. */
async function settleWatchingSigners(world: CredentialWorld): Promise<void> {
  for (let run = 0; run < 6; run += 1) {
    const known = world.kids();
    const resolution = await world.reconcile();
    if (known.length > 0) expect(known).toContain(world.signer());
    if (isSettled(resolution, world)) return;
  }
  throw new Error("Six runs, and still something to write");
}

describe.each(events)("a crash in the middle of $name", (event) => {
  it("is made good by the next run, wherever it happened, once and again: nothing is made twice", async () => {
    const first = await writesOf(event, []);
    expect(first).toBeGreaterThan(0);
    let tried = 0;
    for (let cut = 0; cut <= first + 1; cut += 1) {
      const second = await writesOf(event, [cut]);
      for (let again = 0; again <= second + 1; again += 1) {
        await checkAfter(event, [cut, again]);
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThanOrEqual((first + 2) * 2);
  });
});

async function checkAfter(event: Event, cuts: readonly number[]): Promise<void> {
  const world = await worldBefore(event);
  const before: Before = { keys: world.liveKeys(), login: world.login(), kids: world.kids() };
  event.change(world);
  for (const cut of cuts) {
    await crash(world, cut);
    world.now += 1000;
  }
  await settleWatchingSigners(world);
  const { keys, passwords, rings } = world.readable;
  expect({ cuts, keys: keys.size, passwords: passwords.size, kids: rings.size }).toEqual({ cuts, ...event.readable });
  expect(world.liveKeys()).toContain(sha256Hex(world.text("ci-api-key", "apiKey")));
  expect(isFakeHashOf(world.login().hash ?? "", world.text("ada-password", "password"))).toBe(true);
  event.check(world, before);
}
