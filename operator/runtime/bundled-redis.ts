// What the operator makes for a Redis that comes with the installation, its users and its
// certificate, before it first connects, and what it renews of them. For any other Redis it does
// nothing.

import type { Clock } from "../../core/clock.ts";
import type { TrustAuthorities } from "../../core/redis/authorities.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import { createCertificateReader, ensureRedisCertificate } from "../certificates/redis-certificate.ts";
import type { KubeApi } from "../kube/api.ts";
import { applyRedisUsers, ensureRedisUsers } from "../redis-users/redis-users.ts";
import type { Random } from "../resolve/mint.ts";
import type { OperatorSettings } from "./operator-context.ts";

export interface BundledRedis {
  /** The store URL of the operator, once its user can connect. */
  url(): Promise<string>;
  /**
   * Renews the certificate, and has Redis read again what is mounted, whoever renewed it. Rejects
   * while Redis is away.
   */
  renewCertificate(): Promise<void>;
  close(): void;
}

export interface BundledRedisDeps {
  readonly settings: Pick<OperatorSettings, "redis" | "redisSecret" | "redisTlsSecret" | "namespace">;
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly trust: TrustAuthorities;
  readonly clock: Clock;
  readonly random: Random;
}

export function createBundledRedis({ settings, api, trust, clock, random }: BundledRedisDeps): BundledRedis {
  const { redis, redisSecret, redisTlsSecret, namespace } = settings;
  const target = parseRedisUrl(redis);

  const ensureCertificate = async (): Promise<void> => {
    if (redisTlsSecret === undefined || target.kind !== "standalone") return;
    const secret = { namespace, name: redisTlsSecret };
    trust(await ensureRedisCertificate({ api, secret, host: target.server.host, clock }));
  };
  const users = (name: string) => ensureRedisUsers({ api, secret: { namespace, name }, address: redis, random });
  // Only its administrator may have it read files.
  const reader =
    target.tls && redisSecret !== undefined
      ? createCertificateReader(async () => (await users(redisSecret)).adminUrl)
      : undefined;

  return {
    async url() {
      await ensureCertificate();
      if (redisSecret === undefined) return redis;
      const made = await users(redisSecret);
      await applyRedisUsers(made);
      return made.url;
    },
    async renewCertificate() {
      await ensureCertificate();
      await reader?.reread();
    },
    close: () => reader?.close(),
  };
}
