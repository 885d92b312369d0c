import { describe, expect, it } from "vitest";
import { keyedHash, newKeyringText, parseKeyring } from "../../../../core/config/keyring.ts";
import { open, SealBroken, seal } from "../../../../core/config/seal.ts";

const ring = parseKeyring(newKeyringText());
const place = { namespace: "shop", name: "web", uid: "u-1", field: "resource:books", revision: 7 };

describe("a sealed field", () => {
  it("opens at the place it was sealed for, and tells the project's UID", async () => {
    const sealed = await seal(ring, place, '{"a":"ä"}');
    expect(await open(ring, place, sealed)).toEqual({ text: '{"a":"ä"}', uid: "u-1" });
  });

  it("shows nothing of its text", async () => {
    expect(await seal(ring, place, "argon2id-secret")).not.toContain("argon2id");
  });

  it.each([
    ["another project", { name: "other" }],
    ["another namespace", { namespace: "other" }],
    ["another field", { field: "resource:films" }],
    ["another revision", { revision: 8 }],
  ])("does not open at %s", async (_where, change) => {
    const sealed = await seal(ring, place, "{}");
    await expect(open(ring, { ...place, ...change }, sealed)).rejects.toThrow(SealBroken);
  });

  it.each([
    ["altered", (text: string) => `${text.slice(0, -2)}${text.endsWith("AA") ? "BB" : "AA"}`],
    ["cut", (text: string) => text.slice(0, 40)],
    ["no seal at all", () => "{}"],
  ])("does not open when it is %s", async (_how, spoil) => {
    const sealed = await seal(ring, place, "{}");
    await expect(open(ring, place, spoil(sealed))).rejects.toThrow(SealBroken);
  });

  it("does not open with another ring, and opens with a ring that got a new first key", async () => {
    const sealed = await seal(ring, place, "{}");
    const other = parseKeyring(newKeyringText());
    await expect(open(other, place, sealed)).rejects.toThrow(SealBroken);
    const rotated = { names: ring.names, keys: [other.keys[0], ...ring.keys] as const };
    expect((await open(rotated, place, sealed)).text).toBe("{}");
  });
});

describe("a key ring's file", () => {
  it("is read back as it was made", () => {
    expect(ring.keys).toHaveLength(1);
    expect(ring.names).toHaveLength(32);
  });

  it.each([
    ["no JSON", "{secret", "not JSON"],
    ["no keys", '{"names":"a","keys":[]}', '"keys" must be'],
    ["a short secret", '{"names":"a","keys":[{"kid":"1","k":"c2VjcmV0"}]}', '"keys[0].k" must be 32 bytes'],
    ["a kid with spaces", '{"names":"a","keys":[{"kid":"a b","k":"c2VjcmV0"}]}', '"keys[0].kid"'],
  ])("is refused with %s, and its secrets are not quoted", (_what, text, message) => {
    expect(() => parseKeyring(text)).toThrow(message);
    expect(() => parseKeyring(text)).not.toThrow(/c2VjcmV0|\{secret/);
  });

  it("is refused with two keys of one kid", () => {
    const { names, keys } = JSON.parse(newKeyringText()) as { names: string; keys: unknown[] };
    expect(() => parseKeyring(JSON.stringify({ names, keys: [...keys, ...keys] }))).toThrow("different kids");
  });
});

describe("keyed hashes", () => {
  it("agree for equal names and differ between purposes and rings", () => {
    const other = parseKeyring(newKeyringText());
    expect(keyedHash(ring, "user", "ann")).toBe(keyedHash(ring, "user", "ann"));
    expect(keyedHash(ring, "user", "ann")).not.toBe(keyedHash(ring, "content", "ann"));
    expect(keyedHash(ring, "user", "ann")).not.toBe(keyedHash(other, "user", "ann"));
  });
});
