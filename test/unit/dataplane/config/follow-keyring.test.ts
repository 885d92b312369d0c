import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Keyring, newKeyringText, parseKeyring } from "../../../../core/config/keyring.ts";
import { seal } from "../../../../core/config/seal.ts";
import { type FollowedKeyring, followKeyring, openWithNewest } from "../../../../dataplane/config/follow-keyring.ts";

const first = newKeyringText();
const second = newKeyringText();
const location = { namespace: "shop", name: "x", uid: "u", field: "project", revision: 7 };
const kidOf = (text: string) => parseKeyring(text).keys[0].kid;

let file: string | Error;
let time: number;
let readings: number;
let refusals: string[];
let changes: string[];
let ring: FollowedKeyring;

beforeEach(async () => {
  [file, time, readings, refusals, changes] = [first, 0, 0, [], []];
  ring = await followKeyring({
    read: async () => {
      readings += 1;
      if (file instanceof Error) throw file;
      return file;
    },
    onRefused: (error) => void refusals.push((error as Error).message),
    onChanged: (changed: Keyring) => void changes.push(changed.keys[0].kid),
    now: () => time,
  });
});
afterEach(() => ring.stop());

describe("the followed key ring", () => {
  it("is the file's newest content, and tells of a change once", async () => {
    const reported: string[] = [];
    ring.onChange(() => void reported.push(ring.current().keys[0].kid));
    file = second;
    time += 1_000;
    await ring.reread();
    expect(ring.current().keys[0].kid).toBe(kidOf(second));
    time += 1_000;
    await ring.reread();
    expect([reported, changes]).toEqual([[kidOf(second)], [kidOf(second)]]);
  });

  it("reads at most once a second, and once for all who ask at the same time", async () => {
    await ring.reread();
    expect(readings).toBe(1);
    time += 1_000;
    await Promise.all([ring.reread(), ring.reread(), ring.reread()]);
    expect(readings).toBe(2);
    time += 999;
    await ring.reread();
    expect(readings).toBe(2);
  });

  it("keeps the former ring when the file goes bad or missing, and says so once, without its content", async () => {
    const bad = `{"names": "${JSON.parse(first).names}", "keys": []}`;
    for (const content of [bad, bad, new Error("ENOENT: no such file"), "{secret", first, bad]) {
      file = content;
      time += 1_000;
      await ring.reread();
      expect(ring.current().keys[0].kid).toBe(kidOf(first));
    }
    expect(refusals).toEqual([
      'The key ring\'s "keys" must be a list of 1 to 16 keys',
      "ENOENT: no such file",
      "The key ring's file is not JSON",
      'The key ring\'s "keys" must be a list of 1 to 16 keys',
    ]);
    expect(changes).toEqual([]);
  });

  it("rejects when there is no ring to begin with", async () => {
    const deps = { onRefused: () => undefined };
    await expect(followKeyring({ ...deps, read: async () => "{}" })).rejects.toThrow("The key ring's");
    await expect(followKeyring({ ...deps, read: () => Promise.reject(new Error("gone")) })).rejects.toThrow("gone");
  });

  it("opens at once what a key sealed that came into the file since", async () => {
    const sealed = await seal(parseKeyring(second), location, "hello");
    await expect(openWithNewest(ring, location, sealed)).rejects.toThrow("a key that is not in the ring");
    file = second;
    await expect(openWithNewest(ring, location, sealed)).rejects.toThrow("a key that is not in the ring");
    time += 1_000;
    expect(await openWithNewest(ring, location, sealed)).toEqual({ text: "hello", uid: "u" });
  });

  it("does not read the file again for a value that no ring would open", async () => {
    const sealed = await seal(parseKeyring(first), location, "hello");
    time += 1_000;
    await expect(openWithNewest(ring, { ...location, field: "signing" }, sealed)).rejects.toThrow("another field");
    expect(readings).toBe(1);
  });
});
