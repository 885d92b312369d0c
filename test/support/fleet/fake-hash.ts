// Well-formed argon2id strings that take no time to make: equal for equal passwords and salts.

import { createHash } from "node:crypto";

export function fakeHash(password: string, salt = 0): string {
  return `$argon2id$v=19$m=64,p=1,t=1$${String(salt).padStart(22, "0")}$${tagOf(password)}`;
}

export function isFakeHashOf(hash: string, password: string): boolean {
  return hash.endsWith(`$${tagOf(password)}`);
}

function tagOf(password: string): string {
  return createHash("sha256").update(password).digest("base64").replace("=", "");
}
