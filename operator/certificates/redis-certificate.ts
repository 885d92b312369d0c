// The certificate of a Redis that comes with the installation. It stands in a Secret in the
// operator's own namespace, which Redis and its clients mount. It is renewed in two steps: clients
// trust the next one before Redis shows it. Refuses with RedisSecretUnusable a Secret that somebody
// else made.

import { createPrivateKey, X509Certificate } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { JsonObject } from "../../core/config/types.ts";
import { connect, type IoredisClient, isReady } from "../../core/redis/connect.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import type { KubeApi, ObjectName } from "../kube/api.ts";
import { secretType } from "../kube/objects.ts";
import { RedisSecretUnusable } from "../redis-users/redis-users.ts";
import { ensureSecret, entriesOf, isManaged } from "../secrets/installation-secret.ts";
import { encodedEntries } from "../secrets/secret-object.ts";
import { makeSelfSigned, type SelfSigned } from "./self-signed.ts";

const dayMs = 24 * 3_600_000;
export const lifetimeMs = 365 * dayMs;
/** A third of its time is left for an operator that doesn't run, and for people to notice. */
const renewedAfter = 2 / 3;
/** A mounted Secret follows within two minutes. */
const announcedMs = 3_600_000;
/** Clocks of nodes differ. */
const backdatedMs = 300_000;

/** Entries of the Secret, as texts; those of `kubernetes.io/tls` and one more as cert-manager's. */
export interface CertificateEntries {
  /** What Redis shows. */
  readonly "tls.crt"?: string;
  readonly "tls.key"?: string;
  /** What clients trust: what is shown, and what is shown next or was shown before. */
  readonly "ca.crt"?: string;
  /** What is shown next, while clients learn of it. */
  readonly "next.crt"?: string;
  readonly "next.key"?: string;
}

/** What the Secret has to hold from now on; undefined = what it holds. */
export function dueCertificates(
  entries: CertificateEntries,
  host: string,
  now: number,
): CertificateEntries | undefined {
  const shown = usablePair(entries["tls.crt"], entries["tls.key"], host, now);
  if (shown === undefined) return only(make(host, now));
  const next = usablePair(entries["next.crt"], entries["next.key"], host, now);
  if (now < beginOf(shown) + renewedAfter * (endOf(shown) - beginOf(shown)))
    return trusts(entries, shown) ? undefined : only(shown);
  if (next === undefined || !trusts(entries, next)) return announced(shown, next ?? make(host, now));
  if (now < beginOf(next) + backdatedMs + announcedMs) return undefined;
  return { ...only(next), "ca.crt": shown.certificate + next.certificate };
}

function make(host: string, now: number): SelfSigned {
  return makeSelfSigned({ host, from: now - backdatedMs, until: now + lifetimeMs });
}

function only(shown: SelfSigned): CertificateEntries {
  return { "tls.crt": shown.certificate, "tls.key": shown.key, "ca.crt": shown.certificate };
}

function announced(shown: SelfSigned, next: SelfSigned): CertificateEntries {
  return {
    ...only(shown),
    "ca.crt": shown.certificate + next.certificate,
    "next.crt": next.certificate,
    "next.key": next.key,
  };
}

/** Undefined where it is none, is for another host or another time, or has another key. */
function usablePair(certificate = "", key = "", host: string, now: number): SelfSigned | undefined {
  try {
    const read = new X509Certificate(certificate);
    const isValid = read.validFromDate.getTime() <= now && now < read.validToDate.getTime();
    const isUsable = isValid && read.checkHost(host) !== undefined && read.checkPrivateKey(createPrivateKey(key));
    return isUsable ? { certificate, key } : undefined;
  } catch {
    // Neither error says anything that another certificate wouldn't mend.
    return undefined;
  }
}

function trusts(entries: CertificateEntries, { certificate }: SelfSigned): boolean {
  return entries["ca.crt"]?.includes(certificate.trim()) === true;
}

function beginOf({ certificate }: SelfSigned): number {
  return new X509Certificate(certificate).validFromDate.getTime();
}

function endOf({ certificate }: SelfSigned): number {
  return new X509Certificate(certificate).validToDate.getTime();
}

export interface RedisCertificateDeps {
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly secret: ObjectName;
  /** The name by which clients reach Redis. */
  readonly host: string;
  readonly clock: Pick<Clock, "now">;
}

/** Makes and renews it where that is due. Resolves with what clients trust, in PEM. */
export async function ensureRedisCertificate(deps: RedisCertificateDeps): Promise<string> {
  const { api, secret, host, clock } = deps;
  const made = () => ({ type: "kubernetes.io/tls", entries: { ...only(make(host, clock.now())) } }) as const;
  const found = await ensureSecret(api, secret, made);
  if (!isManaged(found)) throw foreign(secret);
  const entries: CertificateEntries = entriesOf(found);
  const due = dueCertificates(entries, host, clock.now());
  if (due === undefined) return entries["ca.crt"] ?? "";
  await api.replace(secretType, {
    ...(found as unknown as JsonObject),
    apiVersion: "v1",
    kind: "Secret",
    data: encodedEntries({ ...due }),
  });
  return due["ca.crt"] ?? "";
}

/** What clients trust, as the Secret says; for commands that make none. */
export async function trustedRedisCertificates(api: Pick<KubeApi, "get">, secret: ObjectName): Promise<string> {
  const found = await api.get(secretType, secret);
  return (found && entriesOf(found)["ca.crt"]) ?? "";
}

function foreign({ namespace, name }: ObjectName): RedisSecretUnusable {
  return new RedisSecretUnusable(
    `Secret ${namespace}/${name} is not jsonplane's, and no certificate is made in it. Delete it, or have Redis and its clients use it as it is: name it in redis.bundled.tls.existingSecret.name`,
  );
}

const commandTimeoutMs = 5_000;

export interface CertificateReader {
  /**
   * Has the server read its certificate and key again from the files that it read before, which may
   * have changed: CONFIG SET does so, also where the names stay. Throws StoreUnavailable while it
   * is away; rejects where the two don't fit, and they stay what they were.
   */
  reread(): Promise<void>;
  close(): void;
}

/**
 * `adminUrl` is asked for each connection. The connection stays open: a new one would not be
 * trusted while the server shows a certificate that is no longer in the Secret.
 */
export function createCertificateReader(adminUrl: () => Promise<string>): CertificateReader {
  let client: IoredisClient | undefined;
  const close = (): void => {
    client?.disconnect();
    client = undefined;
  };
  return {
    async reread() {
      if (client !== undefined && !isReady(client)) close();
      client ??= await connect({
        target: parseRedisUrl(await adminUrl()),
        name: "jsonplane-operator-admin",
        commandTimeout: commandTimeoutMs,
      });
      const files = (await client.call("CONFIG", "GET", "tls-cert-file", "tls-key-file")) as readonly string[];
      await client.call("CONFIG", "SET", ...files);
    },
    close,
  };
}
