// The users that docs/reference/redis.md tells to make, made on a Redis of a test by exactly the
// lines that stand there.

import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import type { TestRedis } from "./redis.ts";

export type DocumentedUser = "jsonplane-operator" | "jsonplane-dataplane" | "jsonplane-backup";

const password = "a-password-of-a-test";

/** `without` = a word of those lines that somebody left out. */
export async function allowAsDocumented({ host, port }: TestRedis, without?: string): Promise<void> {
  const admin = new Redis({ host, port });
  let left = 0;
  for (const line of documentedLines()) {
    const [command = "", ...words] = line.replace("PASSWORD", password).split(" ");
    left += words.length;
    const granted = words.filter((word) => word !== without);
    left -= granted.length;
    await admin.call(command, ...granted);
  }
  admin.disconnect();
  if (left === 0 && without !== undefined) throw new Error(`docs/reference/redis.md grants no ${without}`);
}

export function documentedUrl({ host, port }: TestRedis, user: DocumentedUser): string {
  return `redis://${user}:${password}@${host}:${port}`;
}

function documentedLines(): readonly string[] {
  const page = readFileSync(new URL("../../../docs/reference/redis.md", import.meta.url), "utf8");
  const lines = [...page.matchAll(/^```acl\n([^`]*)```$/gm)].flatMap(([, block = ""]) => block.trim().split("\n"));
  if (lines.length === 0 || !lines.every((line) => line.startsWith("ACL SETUSER jsonplane-"))) {
    throw new Error("docs/reference/redis.md has no lines that make users");
  }
  return lines;
}
