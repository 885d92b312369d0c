import { createCipheriv } from "node:crypto";
import { CompactEncrypt, compactDecrypt } from "jose";
import { describe, expect, it } from "vitest";
import { keyedHash, newKeyringText, parseKeyring } from "../../../../core/config/keyring.ts";
import { open, SealBroken, seal } from "../../../../core/config/seal.ts";

const ring = parseKeyring(newKeyringText());
const location = { namespace: "shop", name: "web", uid: "u-1", field: "resource:books", revision: 7 };

describe("a sealed field", () => {
  it("opens at the place it was sealed for, and tells the project's UID", () => {
    const sealed = seal(ring, location, '{"a":"ä"}');
    expect(open(ring, location, sealed)).toEqual({ text: '{"a":"ä"}', uid: "u-1" });
  });

  it("shows nothing of its text", () => {
    expect(seal(ring, location, "argon2id-secret")).not.toContain("argon2id");
  });

  it.each([
    ["another project", { name: "other" }],
    ["another namespace", { namespace: "other" }],
    ["another field", { field: "resource:films" }],
    ["another revision", { revision: 8 }],
  ])("does not open at %s", (_where, change) => {
    const sealed = seal(ring, location, "{}");
    expect(() => open(ring, { ...location, ...change }, sealed)).toThrow(SealBroken);
  });

  it.each([
    ["altered", (text: string) => `${text.slice(0, -2)}${text.endsWith("AA") ? "BB" : "AA"}`],
    ["cut", (text: string) => text.slice(0, 40)],
    ["no seal at all", () => "{}"],
  ])("does not open when it is %s", (_how, spoil) => {
    const sealed = seal(ring, location, "{}");
    expect(() => open(ring, location, spoil(sealed))).toThrow(SealBroken);
  });

  it("does not open with another ring, and opens with a ring that got a new first key", () => {
    const sealed = seal(ring, location, "{}");
    const other = parseKeyring(newKeyringText());
    expect(() => open(other, location, sealed)).toThrow(SealBroken);
    const rotated = { names: ring.names, keys: [other.keys[0], ...ring.keys] as const };
    expect(open(rotated, location, sealed).text).toBe("{}");
  });
});

/** What another program seals with the ring's first key. */
const sealedByJose = (header: object): Promise<string> =>
  new CompactEncrypt(new TextEncoder().encode("{}"))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: ring.keys[0].kid, ...header })
    .encrypt(ring.keys[0].secret);

describe("a sealed field is a compact JWE", () => {
  const header = { project: "shop/web", uid: "u-1", field: location.field, revision: location.revision };

  it("that other libraries open", async () => {
    const { plaintext, protectedHeader } = await compactDecrypt(seal(ring, location, '{"a":"ä"}'), ring.keys[0].secret);
    expect(new TextDecoder().decode(plaintext)).toBe('{"a":"ä"}');
    expect(protectedHeader).toEqual({ alg: "dir", enc: "A256GCM", kid: ring.keys[0].kid, ...header });
  });

  it("and opens when another library has sealed it", async () => {
    expect(open(ring, location, await sealedByJose(header))).toEqual({ text: "{}", uid: "u-1" });
  });

  it("does not open with six parts, an encrypted key, a shorter tag or another algorithm in its header", async () => {
    const sealed = await sealedByJose(header);
    const [first = "", , iv = "", text = "", tag = ""] = sealed.split(".");
    const relabelled = Buffer.from(JSON.stringify({ ...header, alg: "A256KW", enc: "A256GCM", kid: ring.keys[0].kid }));
    for (const spoilt of [
      `${sealed}.`,
      [first, "AAAA", iv, text, tag].join("."),
      [first, "", iv, text, Buffer.from(tag, "base64url").subarray(0, 12).toString("base64url")].join("."),
      [relabelled.toString("base64url"), "", iv, text, tag].join("."),
      [first, "", "", text, tag].join("."),
    ])
      expect(() => open(ring, location, spoilt)).toThrow(SealBroken);
  });

  it("does not open when its header asks for an extension", async () => {
    const key = ring.keys[0];
    const text = Buffer.from(
      JSON.stringify({ alg: "dir", enc: "A256GCM", kid: key.kid, crit: ["x"], x: 1, ...header }),
    );
    const encoded = text.toString("base64url");
    const cipher = createCipheriv("aes-256-gcm", key.secret, Buffer.alloc(12)).setAAD(Buffer.from(encoded));
    const sealed = Buffer.concat([cipher.update("{}"), cipher.final()]);
    const parts = [Buffer.alloc(12), sealed, cipher.getAuthTag()].map((part) => part.toString("base64url"));
    expect(() => open(ring, location, [encoded, "", ...parts].join("."))).toThrow(SealBroken);
  });

  it("never has the same nonce twice", () => {
    const nonces = Array.from({ length: 100 }, () => seal(ring, location, "{}").split(".")[2]);
    expect(new Set(nonces).size).toBe(100);
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
