// The authorities of `rediss` URLs that a program trusts, followed in their file, where a Secret is
// mounted. A program that can't read them at its start refuses to start.

import { readFile } from "node:fs/promises";
import { followFile } from "../core/followed-file.ts";
import type { Logger } from "../core/log/logger.ts";
import { createTrust } from "../core/redis/authorities.ts";
import type { Cleanup } from "./run-program.ts";
import { StartRefused } from "./start-refused.ts";

/** Does nothing without a file. `logger` undefined = a Job, which ends before anything changes. */
export async function trustRedis(file: string | undefined, cleanup: Cleanup, logger?: Logger): Promise<void> {
  if (file === undefined) return;
  const trust = createTrust();
  const followed = await followFile({
    read: () => readFile(file, "utf8"),
    parse: trust,
    onRefused: (error) =>
      logger?.error("Authorities of Redis rejected; keeping the previous ones", { file, reason: messageOf(error) }),
    onChanged: () => logger?.info("Authorities of Redis changed", { audit: true, file }),
  }).catch((cause: unknown) => {
    throw new StartRefused(`--redis-ca-file ${file} can't be used: ${messageOf(cause)}`, { cause });
  });
  cleanup.add(() => followed.stop());
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : typeof error;
}
