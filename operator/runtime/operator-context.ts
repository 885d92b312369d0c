// What the parts of a running operator share: how it was set up, and what it was given to work
// with.

import type { Clock } from "../../core/clock.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { HostRule } from "../../core/env/host-rules.ts";
import type { IssuerRule } from "../../core/env/issuer-rules.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { TrustAuthorities } from "../../core/redis/authorities.ts";
import type { Monotonic, Timers } from "../../core/timers.ts";
import type { FollowedGuardRails } from "../guard-rails/rules.ts";
import type { FetchLimits } from "../issuers/address-rules.ts";
import type { KubeApi } from "../kube/api.ts";
import type { AuditLog } from "../observe/audit-log.ts";
import type { OperatorMetrics } from "../observe/metrics.ts";
import type { DataLossPolicy } from "../publish/store-identity.ts";
import type { Caches } from "../watch/caches.ts";

export interface OperatorSettings {
  /** A store URL, of Redis. */
  readonly redis: string;
  /**
   * Secret of the own namespace with the users of that Redis, made when it is missing; absent = the
   * URL says all.
   */
  readonly redisSecret: string | undefined;
  /**
   * Secret of the own namespace with the certificate of that Redis, made when it is missing, and
   * renewed; absent = somebody else makes one, or there is no TLS.
   */
  readonly redisTlsSecret: string | undefined;
  /** Namespace of the operator's own Lease and key ring. */
  readonly namespace: string;
  /** None = all. */
  readonly watchNamespaces: readonly string[];
  /** Names this process; no other one has it. */
  readonly identity: string;
  readonly workers: number;
  readonly leaseDurationMs: number;
  readonly adopt: boolean;
  /** What becomes of requests for data when Redis no longer holds the data that it held. */
  readonly onDataLoss: DataLossPolicy;
  /** Where the guard rails have no such rule. */
  readonly allowedHosts: readonly HostRule[];
  /** External issuers that Projects may name; none = none. */
  readonly allowedIssuers: readonly IssuerRule[];
  /**
   * ConfigMap of the own namespace with the platform's rules for manifests; absent = there are
   * none.
   */
  readonly guardRails: string | undefined;
  /** How old the newest backup may become; absent = none are expected. */
  readonly backupMaxAgeSeconds: number | undefined;
  readonly baseUrlOf: (ref: ProjectRef) => string;
}

export interface OperatorContext {
  readonly settings: OperatorSettings;
  /** Not bound to leadership. */
  readonly api: KubeApi;
  readonly caches: Caches;
  /** Absent = there are none. */
  readonly guardRails: FollowedGuardRails | undefined;
  readonly fetchLimits: FetchLimits;
  /** For a certificate of Redis that the operator makes. */
  readonly trust: TrustAuthorities;
  readonly metrics: OperatorMetrics;
  readonly logger: Logger;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
}
