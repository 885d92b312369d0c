// Turns a password from a Secret into the argon2id string that logins are compared with. Refuses
// what no login could send: an empty password, or one so long that hashing it would waste time.

import { hash as argon2Hash, argon2id } from "argon2";

/** The cost of one hash. Stored strings name their own; this is for new ones and unknown users. */
export interface PasswordCost {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** OWASP's minimum for argon2id: some 40 ms of one core, bounded memory in a flood of logins. */
export const passwordCost: PasswordCost = Object.freeze({ memoryKiB: 19_456, passes: 2, parallelism: 1 });

/**
 * For passwords that the operator makes: nobody guesses 160 random bits, whatever a guess costs.
 * Ten thousand new users would otherwise take minutes of CPU.
 */
export const generatedPasswordCost: PasswordCost = Object.freeze({ memoryKiB: 64, passes: 1, parallelism: 1 });

/** Salt and tag as long as they are made here; the parameters stand in any order. */
const argon2idString = /^\$argon2id\$v=19\$([mtp]=\d+),([mtp]=\d+),([mtp]=\d+)\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/;

/**
 * The cost of comparing a password with this string; undefined = not an argon2id string of ours.
 */
export function costOf(hash: string): PasswordCost | undefined {
  const given = (argon2idString.exec(hash) ?? []).slice(1).map((parameter) => parameter.split("="));
  const { m, t, p } = Object.fromEntries(given);
  return m && t && p ? { memoryKiB: Number(m), passes: Number(t), parallelism: Number(p) } : undefined;
}

/** UTF-8 bytes without the final newline, both as given and as `normalisePassword` leaves them. */
export const maxPasswordBytes = 1024;

/** The password can't be used; the message says why, without the password. */
export class PasswordRefused extends Error {
  override readonly name = "PasswordRefused";
}

/**
 * The password as both sides compare it. One final newline is dropped: `echo user:pass | base64`
 * and most editors add one that nobody means. The rest is what RFC 8265 §4.2 makes of it, as RFC
 * 7617 wants it of clients: NFC, and each space of Unicode as U+0020. Keyboards differ in both.
 */
export function normalisePassword(password: string): string {
  const meant = password.endsWith("\n") ? password.slice(0, -1) : password;
  // It is refused anyway, and NFC takes quadratic time in the number of combining characters.
  if (Buffer.byteLength(meant) > maxPasswordBytes) return meant;
  return meant.replaceAll(/\p{Zs}/gu, " ").normalize("NFC");
}

/** Throws PasswordRefused where `hashPassword` would, without a hash. */
export function requireHashable(password: string): void {
  const normalised = normalisePassword(password);
  if (normalised === "") throw new PasswordRefused("The password is empty");
  if (Buffer.byteLength(normalised) > maxPasswordBytes) {
    throw new PasswordRefused(`The password is longer than ${maxPasswordBytes} bytes`);
  }
}

/** The argon2id string of a password, normalised. Throws PasswordRefused. */
export async function hashPassword(password: string, cost: PasswordCost = passwordCost): Promise<string> {
  requireHashable(password);
  return await argon2Hash(normalisePassword(password), {
    type: argon2id,
    memoryCost: cost.memoryKiB,
    timeCost: cost.passes,
    parallelism: cost.parallelism,
  });
}
