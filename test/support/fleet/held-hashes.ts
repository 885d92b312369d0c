// Loaded into an operator's process before its program (`node --import`): no password that a person
// made is hashed while the file exists that the query of its URL names. Those that the operator
// makes itself are hashed as ever.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

type Hash = (password: string, options: { readonly memoryCost: number }) => Promise<string>;

const argon2 = createRequire(import.meta.url)("argon2") as { hash: Hash };
const { hash } = argon2;
const held = new URL(import.meta.url).searchParams.get("file") ?? "";

// What imports argon2 as a module from now on has this one.
argon2.hash = async (password, options) => {
  while (options.memoryCost > costOfGenerated.memoryKiB && existsSync(held)) await sleep(5);
  return await hash(password, options);
};

const { generatedPasswordCost: costOfGenerated } = await import("../../../core/password/hash-password.ts");
