// The token of a program's admin port, followed in its file, where its Secret is mounted. A program
// that can't read it at its start refuses to start rather than answer everybody.

import { readFile } from "node:fs/promises";
import { type FollowedToken, followToken } from "../core/http/admin-port-access.ts";
import type { Logger } from "../core/log/logger.ts";
import type { Cleanup } from "./run-program.ts";
import { StartRefused } from "./start-refused.ts";

/** Undefined without a file: then nobody is asked for a token. */
export async function openAdminToken(
  file: string | undefined,
  logger: Logger,
  cleanup: Cleanup,
): Promise<FollowedToken | undefined> {
  if (file === undefined) return undefined;
  const token = await followToken({
    read: () => readFile(file, "utf8"),
    // Neither says anything of the content.
    onRefused: (error) =>
      logger.error("Metrics token rejected; keeping the previous one", { file, reason: messageOf(error) }),
    onChanged: () => logger.info("Metrics token changed", { audit: true, file }),
  }).catch((cause: unknown) => {
    throw new StartRefused(`--admin-token-file ${file} can't be used: ${messageOf(cause)}`, { cause });
  });
  cleanup.add(() => token.stop());
  return token;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : typeof error;
}
