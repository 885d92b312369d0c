// What comes of the work: configuration published and taken up, objects and their conditions, data and Secrets removed.

import type { Instruments } from "./instruments.ts";
import type { KeptFigures } from "./kept-figures.ts";
import type { RedisServer } from "./redis-servers.ts";
import { storedSeriesOf } from "./stored-series.ts";

export interface ConfigGauges {
  /** `refusals` = fields of all projects that some live replica can't use. Undefined where this process does not know. */
  readonly replicas: () => { readonly live: number; readonly refusals: number } | undefined;
  /** Whether requests for data are refused because Redis lost them. */
  readonly dataLost: () => boolean;
  /** Undefined where this process does not lead. */
  readonly publishHealth: () =>
    | {
        /** Projects whose configuration couldn't be written when it was tried last. */
        projectsWithFailedWrites(): number;
        /** Whether the fleet's key ring is there, and fits what was published with it. */
        isKeyRingUsable(): boolean;
      }
    | undefined;
  /** Stored data that no project serves. */
  readonly keptData: () => KeptFigures;
  /** As of the last look; none where this process does not lead, or Redis is away. */
  readonly redisServers: () => readonly RedisServer[];
  /** How many objects have a condition in a status; counts, so that no object makes a series. */
  readonly objects: () => Iterable<ObjectCount>;
  /** How many objects of a namespace need a person, by why. */
  readonly stalled: () => Iterable<StalledCount>;
  /** How many objects each Project stores, by `<namespace>/<name>`; none where this process does not lead. */
  readonly storedObjects: () => ReadonlyMap<string, number>;
  /** How many Projects are Ready, and not known to be served by a live replica. */
  readonly unavailableProjects: () => number;
  /** Undefined where this process does not lead. */
  readonly issuers: () => { readonly unreachable: number; readonly oldestFailureSeconds: number } | undefined;
  /** Since the oldest event of a deletion or of lowered access that replicas have not acknowledged; undefined where this process does not lead. */
  readonly oldestRevocationSeconds: () => number | undefined;
}

export interface ObjectCount {
  readonly kind: string;
  readonly condition: string;
  readonly status: "True" | "False" | "Unknown";
  readonly count: number;
}

export interface StalledCount {
  readonly namespace: string;
  readonly kind: string;
  readonly reason: string;
  readonly count: number;
}

export type ConfigObservation =
  /** A project's configuration was written; `fields` were changed or removed. */
  | { readonly kind: "published"; readonly seconds: number; readonly fields: number }
  | { readonly kind: "publish_failed" }
  /** The Redis was found to be another installation's, and left to it. */
  | { readonly kind: "contested" }
  /** From the moment that a change of an object arrived until every replica serves it. */
  | { readonly kind: "programmed"; readonly seconds: number }
  /** From the moment that a deletion, or lowered access, arrived until every replica refuses what is lost. */
  | { readonly kind: "revoked"; readonly seconds: number }
  /** An attempt to fetch the keys of an external issuer has ended. */
  | { readonly kind: "issuer_fetched"; readonly failed: boolean }
  | { readonly kind: "secrets_swept"; readonly count: number }
  /** Replicas have removed stored data as they were ordered to. */
  | { readonly kind: "purged"; readonly count: number };

export function configMetrics(
  instruments: Instruments,
  gauges: ConfigGauges,
): { readonly observeConfig: (observation: ConfigObservation) => void } {
  readGauges(instruments, gauges);
  const { counter, seconds } = instruments;
  const published = seconds("jsonplane_publish_seconds", "Duration of writing one project's changes to Redis");
  const fields = counter("jsonplane_publish_fields_total", "Fields of projects written or removed");
  const failed = counter("jsonplane_publish_errors_total", "Publishes that failed; they are tried again");
  const contested = counter(
    "jsonplane_redis_contested_total",
    "Looks that found the Redis to be another installation's, and left it to that one",
  );
  const programmed = seconds(
    "jsonplane_apply_to_programmed_seconds",
    "From the arrival of a change until every live replica serves it; not of objects that are refused first, or wait for their Project",
  );
  const revoked = seconds(
    "jsonplane_revocation_seconds",
    "From the arrival of a deletion, or of lowered access, until every live replica has acknowledged it",
  );
  const fetches = counter(
    "jsonplane_issuer_fetches_total",
    "Attempts to fetch the keys of an external issuer, by how they ended",
    ["outcome"],
  );
  for (const outcome of ["succeeded", "failed"]) fetches.inc({ outcome }, 0);
  const swept = counter("jsonplane_secrets_swept_total", "Secrets removed because their object is gone");
  const purged = counter("jsonplane_purges_total", "Orders to remove stored data that were carried out");
  return {
    observeConfig(observation) {
      switch (observation.kind) {
        case "published":
          published.observe(observation.seconds);
          fields.inc(observation.fields);
          break;
        case "publish_failed":
          failed.inc();
          break;
        case "contested":
          contested.inc();
          break;
        case "programmed":
          programmed.observe(observation.seconds);
          break;
        case "revoked":
          revoked.observe(observation.seconds);
          break;
        case "issuer_fetched":
          fetches.inc({ outcome: observation.failed ? "failed" : "succeeded" });
          break;
        case "secrets_swept":
          swept.inc(observation.count);
          break;
        case "purged":
          purged.inc(observation.count);
          break;
      }
    },
  };
}

function readGauges({ read }: Instruments, gauges: ConfigGauges): void {
  const { replicas, dataLost, redisServers, objects, stalled, unavailableProjects } = gauges;
  read(
    {
      name: "jsonplane_replicas_live",
      help: "Data-plane replicas with a recent heartbeat, as of the last look; none while the operator that leads can't look, and of others",
    },
    () => {
      const known = replicas();
      return known === undefined ? [] : [{ value: known.live }];
    },
  );
  read({ name: "jsonplane_replica_refusals", help: "Fields of projects that some live replica can't use" }, () => [
    { value: replicas()?.refusals ?? 0 },
  ]);
  read(
    {
      name: "jsonplane_projects_unavailable",
      help: "Projects that are Ready and whose Available is not True: no live replica serves them, or nobody knows",
    },
    () => [{ value: unavailableProjects() }],
  );
  read(
    {
      name: "jsonplane_data_lost",
      help: "1 while requests for data are refused because Redis no longer holds the data that it held",
    },
    () => [{ value: dataLost() ? 1 : 0 }],
  );
  readPublishing(read, gauges);
  readRevocations(read, gauges.oldestRevocationSeconds);
  readKept(read, gauges.keptData);
  readRedis(read, redisServers);
  readIssuers(read, gauges.issuers);
  read(
    {
      name: "jsonplane_objects",
      help: "Objects by kind, condition and its status",
      labels: ["kind", "condition", "status"],
    },
    () =>
      Array.from(objects(), ({ kind, condition, status, count }) => ({
        labels: { kind, condition, status },
        value: count,
      })),
  );
  read(
    {
      name: "jsonplane_stalled_objects",
      help: "Objects with the condition Stalled, by namespace and reason; beyond 1,000 series counted under the namespace `(others)`",
      labels: ["namespace", "kind", "reason"],
    },
    () => Array.from(stalled(), ({ count, ...labels }) => ({ labels, value: count })),
  );
  read(
    {
      name: "jsonplane_stored_objects",
      help: "Objects that the ApiResources of a Project hold, as replicas count them about once a minute; beyond 10,000 Projects counted under the namespace and project `(others)`",
      labels: ["namespace", "project"],
    },
    () => storedSeriesOf(gauges.storedObjects()).map(({ count, ...labels }) => ({ labels, value: count })),
  );
}

function readPublishing(read: Instruments["read"], gauges: ConfigGauges): void {
  read(
    {
      name: "jsonplane_projects_unpublished",
      help: "Projects whose configuration couldn't be written to Redis when it was tried last",
    },
    () => [{ value: gauges.publishHealth()?.projectsWithFailedWrites() ?? 0 }],
  );
  read(
    {
      name: "jsonplane_operator_keyring_usable",
      help: "0 while the Secret of the fleet's key ring is missing, damaged, or not the one that was published with",
    },
    () => [{ value: gauges.publishHealth()?.isKeyRingUsable() === false ? 0 : 1 }],
  );
}

function readRevocations(read: Instruments["read"], oldest: ConfigGauges["oldestRevocationSeconds"]): void {
  read(
    {
      name: "jsonplane_revocation_waiting_seconds",
      help: "Age of the oldest deletion, or lowering of access, that some live replica has not acknowledged; 0 = none waits",
    },
    () => [{ value: oldest() ?? 0 }],
  );
}

function readKept(read: Instruments["read"], keptData: ConfigGauges["keptData"]): void {
  read(
    {
      name: "jsonplane_retained_projects",
      help: "Projects, there or gone, of which stored data are kept that nobody serves",
    },
    () => [{ value: keptData().projects }],
  );
  read(
    {
      name: "jsonplane_retained_data",
      help: "Collections and root keys whose data are kept without being served, by whether a replica has measured them yet",
      labels: ["measured"],
    },
    () => {
      const { measured, unmeasured } = keptData();
      return [
        { labels: { measured: "true" }, value: measured },
        { labels: { measured: "false" }, value: unmeasured },
      ];
    },
  );
  read(
    {
      name: "jsonplane_retained_data_bytes",
      help: "Bytes of JSON that the measured ones hold; Redis takes more memory for them",
    },
    () => [{ value: keptData().bytes }],
  );
}

function readIssuers(read: Instruments["read"], issuers: ConfigGauges["issuers"]): void {
  read(
    {
      name: "jsonplane_issuers_unreachable",
      help: "External issuers whose keys couldn't be fetched when it was tried last; those that were fetched before still count",
    },
    () => [{ value: issuers()?.unreachable ?? 0 }],
  );
  read(
    {
      name: "jsonplane_issuer_keys_unconfirmed_seconds",
      help: "Age of the keys of the unreachable issuer that has been so for longest; 0 = every issuer can be reached",
    },
    () => [{ value: issuers()?.oldestFailureSeconds ?? 0 }],
  );
}

/** For each server that reports it. */
function readRedis(read: Instruments["read"], redisServers: ConfigGauges["redisServers"]): void {
  const labels = ["server"];
  const eachOf = (figureOf: (server: RedisServer) => number | undefined) => () =>
    redisServers().flatMap((each) => {
      const value = figureOf(each);
      return value === undefined ? [] : [{ labels: { server: each.server }, value }];
    });
  read(
    { name: "jsonplane_redis_memory_used_bytes", help: "Memory that a primary of Redis uses", labels },
    eachOf(({ memory }) => memory?.usedBytes),
  );
  read(
    { name: "jsonplane_redis_memory_max_bytes", help: "Memory that it may use, its maxmemory; 0 = no limit", labels },
    eachOf(({ memory }) => memory?.maxBytes),
  );
  read(
    {
      name: "jsonplane_redis_certificate_expiry_timestamp_seconds",
      help: "When the certificate of a primary of Redis ends, or one that signed it, as of the operator's connection; none without TLS",
      labels,
    },
    eachOf(({ certificateEnds }) => certificateEnds && certificateEnds / 1_000),
  );
}
