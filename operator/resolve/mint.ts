// Makes new credentials out of random bytes: API keys, passwords and signing keys.

import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import type { SigningKey } from "../../core/config/types.ts";

/** Fresh random bytes, as `randomBytes` of node:crypto gives them. */
export type Random = (bytes: number) => Uint8Array;

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Secret scanners and people recognise a leaked key by it. */
const keyPrefix = "jp_";
const keyDigits = 43;
const passwordDigits = 27;
/** PKCS#8 of an Ed25519 key up to its 32 secret bytes (RFC 8410). */
const ed25519Header = Buffer.from("302e020100300506032b657004220420", "hex");

/** `jp_` and 256 random bits, letters and digits only. */
export function mintApiKey(random: Random): string {
  return keyPrefix + alphanumeric(random(32), keyDigits);
}

/** 160 random bits, letters and digits only. */
export function mintPassword(random: Random): string {
  return alphanumeric(random(20), passwordDigits);
}

export function mintSigningKey(random: Random): SigningKey {
  return signingKeyOf(random(32));
}

/** The key whose secret part these 32 bytes are. */
export function signingKeyOf(secret: Uint8Array): SigningKey {
  const privateKey = createPrivateKey({ key: Buffer.concat([ed25519Header, secret]), format: "der", type: "pkcs8" });
  const { x, d } = privateKey.export({ format: "jwk" });
  if (x === undefined || d === undefined) throw new Error("An Ed25519 key has a public and a private part");
  return { kid: thumbprint(createPublicKey(privateKey).export({ format: "der", type: "spki" })), signs: true, x, d };
}

/** Lower-case hex SHA-256, which is all that is kept of a key outside its Secret. */
export function sha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What a key is called in logs and status; no secret. */
export function keyIdOf(sha256: string): string {
  return sha256.slice(0, 12);
}

function thumbprint(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
}

function alphanumeric(bytes: Uint8Array, digits: number): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  let text = "";
  for (let digit = 0; digit < digits; digit++) {
    text = alphabet.charAt(Number(value % 62n)) + text;
    value /= 62n;
  }
  return text;
}
