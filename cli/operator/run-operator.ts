// The operator as a program: connects to the API server, starts, and runs until it is stopped, also
// without the Lease.

import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { systemClock } from "../../core/clock.ts";
import { createLogger } from "../../core/log/logger.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import type { FetchLimits } from "../../operator/issuers/address-rules.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { startOperator } from "../../operator/runtime/app.ts";
import { openAdminToken } from "../admin-token.ts";
import { apiServerOptions, operatorNamespace } from "../api-server.ts";
import { trustRedis } from "../redis-authorities.ts";
import { type Cleanup, programOptions, runProgram } from "../run-program.ts";
import { StartRefused } from "../start-refused.ts";
import type { OperatorSettings } from "./settings.ts";

/** Resolves with the exit code after a signal, or when it can't start or can't lead any more. */
export async function runOperator(options: OperatorSettings, fetchLimits?: FetchLimits): Promise<number> {
  return await runProgram(programOptions({ host: options.host }), (cleanup) => start(options, cleanup, fetchLimits));
}

async function start(options: OperatorSettings, cleanup: Cleanup, fetchLimits: FetchLimits | undefined) {
  const { redis, publicUrl } = options;
  requireOneRedis(options);
  if (options.adminTokenFile !== undefined && options.adminTokenSecret !== undefined) {
    throw new StartRefused("--admin-token-file and --admin-token-secret both name a token: leave one of them out");
  }
  const logger = createLogger({
    level: options.logLevel,
    clock: systemClock,
    write: (text) => void process.stderr.write(text),
  });
  cleanup.add(() => logger.flush());
  const apiServer = apiServerOptions(options.kubeconfig);
  await trustRedis(options.redisCaFile, cleanup, logger);
  const adminToken = await openAdminToken(options.adminTokenFile, logger, cleanup);
  const running = await startOperator({
    settings: {
      redis,
      redisSecret: options.redisSecret,
      redisTlsSecret: options.redisTlsSecret,
      namespace: options.operatorNamespace ?? (await operatorNamespace(apiServer)),
      watchNamespaces: options.watchNamespaces,
      identity: newIdentity(options.identity ?? hostname(), randomBytes),
      workers: options.workers,
      leaseDurationMs: options.leaseDuration * 1_000,
      adopt: options.adoptData,
      onDataLoss: options.onDataLoss,
      allowedHosts: options.allowedHosts,
      allowedIssuers: options.allowedIssuers,
      guardRails: options.guardRails,
      backupMaxAgeSeconds: options.backupMaxAge,
      baseUrlOf: ({ namespace, name }) => `${publicUrl}/${namespace}/${name}`,
    },
    connect: (observe) => createKubeApi({ ...apiServer, observe }),
    host: options.host,
    adminPort: options.adminPort,
    adminToken,
    adminTokenSecret: options.adminTokenSecret,
    ...(fetchLimits !== undefined && { fetchLimits }),
    clock: systemClock,
    logger,
  });
  let hasFailed = false;
  // What is stuck would not end gracefully either.
  cleanup.add(() => (hasFailed ? undefined : running.close()));
  logger.info("Operator started", { adminUrl: running.adminUrl });
  logger.flush();
  const ended = running.failed.then(() => {
    hasFailed = true;
    return 1;
  });
  return { ended };
}

/**
 * What the process calls itself in the Lease and in Events: the host's name for people, and random
 * bytes, because a restarted container is another process with the same name.
 */
export function newIdentity(host: string, random: (bytes: number) => Uint8Array): string {
  return `${host}_${Buffer.from(random(8)).toString("hex")}`;
}

/** Throws StartRefused where settings contradict each other. */
export function requireOneRedis(
  settings: Pick<OperatorSettings, "redis" | "redisSecret" | "redisTlsSecret" | "redisCaFile">,
): void {
  const { redis, redisSecret, redisTlsSecret, redisCaFile } = settings;
  const target = parseRedisUrl(redis);
  if (redisSecret !== undefined && Object.keys(target.credentials).length > 0) {
    throw new StartRefused("--redis names a user, and --redis-secret holds another one: leave one of them out");
  }
  if (redisTlsSecret === undefined) return;
  if (!target.tls || target.kind !== "standalone" || isIP(target.server.host) !== 0) {
    throw new StartRefused(
      "--redis-tls-secret makes the certificate of one server: --redis has to be a rediss:// URL with a host's name",
    );
  }
  if (redisCaFile !== undefined) {
    throw new StartRefused("--redis-tls-secret and --redis-ca-file both say what is trusted: leave one of them out");
  }
}
