import { verify } from "argon2";
import { describe, expect, test } from "vitest";
import {
  hashPassword,
  maxPasswordBytes,
  normalisePassword,
  PasswordRefused,
} from "../../../../core/password/hash-password.ts";

const cheap = { memoryKiB: 8, passes: 1, parallelism: 1 };

describe("hashing a password", () => {
  test("gives an argon2id string with the documented cost unless told otherwise", async () => {
    expect(await hashPassword("correct horse")).toMatch(/^\$argon2id\$v=19\$m=19456,(t=2,p=1|p=1,t=2)\$/);
  });

  test("drops exactly one final newline, as a login does", async () => {
    expect(await verify(await hashPassword("secret\n", cheap), "secret")).toBe(true);
    expect(await verify(await hashPassword("secret\n\n", cheap), "secret\n")).toBe(true);
    expect(normalisePassword("a\nb")).toBe("a\nb");
    expect(normalisePassword("a\r\n")).toBe("a\r");
    expect(normalisePassword("\n")).toBe("");
  });

  test("takes a password for the same, however its letters are composed and its spaces encoded, and no other", async () => {
    const hash = await hashPassword("Ame\u0301lie\u00a0\u3000\u1100\u1161\n", cheap);
    expect(await verify(hash, normalisePassword("Am\u00e9lie  \uac00"))).toBe(true);
    // Letters that only look alike stay different, as do cases: NFC, not NFKC.
    for (const other of ["Amelie  \uac00", "am\u00e9lie  \uac00", "Am\u00e9lie \uac00"]) {
      expect(await verify(hash, normalisePassword(other))).toBe(false);
    }
    expect(normalisePassword("\ufb01\uff21")).toBe("\ufb01\uff21");
  });

  test("leaves ASCII as it is, so that nothing changes for passwords of it", () => {
    const ascii = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code));
    expect(normalisePassword(ascii)).toBe(ascii);
  });

  test("leaves a password that is too long as it is, for composing it would take seconds", () => {
    const marks = "\u0344\u0323".repeat(maxPasswordBytes);
    expect(normalisePassword(marks)).toBe(marks);
  });

  test("refuses an empty password, one that is only a newline, and one over the bound in bytes", async () => {
    await expect(hashPassword("", cheap)).rejects.toThrow(PasswordRefused);
    await expect(hashPassword("\n", cheap)).rejects.toThrow(PasswordRefused);
    await expect(hashPassword("é".repeat(maxPasswordBytes / 2 + 1), cheap)).rejects.toThrow(PasswordRefused);
    await expect(hashPassword(`${"x".repeat(maxPasswordBytes)}\n`, cheap)).resolves.toMatch(/^\$argon2id\$/);
  });

  test("never puts the password into the message of a refusal", async () => {
    const password = "hunter2".repeat(1000);
    await expect(hashPassword(password, cheap)).rejects.not.toThrow(/hunter2/);
  });
});
