// What comes of the work: configuration published and taken up, objects and their conditions, data
// and Secrets removed.

import type { BackupReport } from "../../core/config/backup-report.ts";
import {
  type InvalidCount,
  type ObjectCount,
  type RedisServer,
  type RetainedFigures,
  type StalledCount,
  storedSeriesOf,
} from "./figures.ts";
import type { Instruments } from "./instruments.ts";

/** Undefined readings: this process does not lead, or does not know. */
export interface ConfigGauges {
  /** `refusals` = fields of all projects that some live replica can't use. */
  readonly replicas: () => { readonly live: number; readonly refusals: number } | undefined;
  /** Whether requests for data are refused because Redis lost them. */
  readonly dataLost: () => boolean;
  readonly publishHealth: () =>
    | {
        /** Projects whose configuration couldn't be written when it was tried last. */
        projectsWithFailedWrites(): number;
        /** Whether the fleet's key ring is there, and fits what was published with it. */
        isKeyRingUsable(): boolean;
      }
    | undefined;
  /** Stored data that no project serves. */
  readonly retainedData: () => RetainedFigures;
  readonly redisServers: () => readonly RedisServer[];
  /** Undefined also where no backups are expected. */
  readonly backups: () => ExpectedBackups | undefined;
  /** How many objects have a condition in a status; counts, so that no object makes a series. */
  readonly objects: () => Iterable<ObjectCount>;
  /** How many objects of a namespace need a person, by why. */
  readonly stalled: () => Iterable<StalledCount>;
  /** How many stored objects of a namespace don't meet their schema. */
  readonly invalidStoredObjects: () => Iterable<InvalidCount>;
  /** How many objects each Project stores, by `<namespace>/<name>`. */
  readonly storedObjects: () => ReadonlyMap<string, number>;
  /** How many Projects are Ready, and not known to be served by a live replica. */
  readonly unavailableProjects: () => number;
  readonly issuers: () => { readonly unreachable: number; readonly oldestFailureSeconds: number } | undefined;
  /**
   * Since the oldest event of a deletion or of lowered access that replicas have not acknowledged.
   */
  readonly oldestRevocationSeconds: () => number | undefined;
}

export interface ExpectedBackups {
  /** How old the newest one may become. */
  readonly maxAgeSeconds: number;
  /** Undefined when there was none. */
  readonly last: BackupReport | undefined;
}

export type ConfigObservation =
  /** A project's configuration was written; `fields` were changed or removed. */
  | { readonly kind: "published"; readonly seconds: number; readonly fields: number }
  | { readonly kind: "publish_failed" }
  /** The Redis was found to be another installation's, and left to it. */
  | { readonly kind: "contested" }
  /** From the moment that a change of an object arrived until every replica serves it. */
  | { readonly kind: "programmed"; readonly seconds: number }
  /**
   * From the moment that a deletion, or lowered access, arrived until every replica refuses what is
   * lost.
   */
  | { readonly kind: "revoked"; readonly seconds: number }
  | { readonly kind: "secrets_swept"; readonly count: number }
  /** Replicas have removed stored data as they were ordered to. */
  | { readonly kind: "purged"; readonly count: number };

export function configMetrics(
  instruments: Instruments,
  gauges: ConfigGauges,
): (observation: ConfigObservation) => void {
  readGauges(instruments, gauges);
  readRedis(instruments, gauges.redisServers);
  readBackups(instruments, gauges.backups);
  readObjects(instruments, gauges);
  const { counter, seconds } = instruments;
  const published = seconds("jsonplane_publish_seconds", "Duration of writing one project's changes to Redis");
  const fields = counter("jsonplane_publish_fields_total", "Fields of projects written or removed");
  const failed = counter("jsonplane_publish_errors_total", "Publishes that failed; they are tried again");
  const contested = counter(
    "jsonplane_redis_contested_total",
    "Checks that found Redis owned by another installation and left it untouched",
  );
  const programmed = seconds(
    "jsonplane_apply_to_programmed_seconds",
    "From the arrival of a change until every live replica serves it; not of objects that are refused first, or wait for their Project",
  );
  const revoked = seconds(
    "jsonplane_revocation_seconds",
    "From the arrival of a deletion, or of lowered access, until every live replica has acknowledged it",
  );
  const swept = counter("jsonplane_secrets_swept_total", "Secrets removed because their object is gone");
  const purged = counter("jsonplane_purges_total", "Orders to remove stored data that were carried out");
  return (observation) => {
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
      case "secrets_swept":
        swept.inc(observation.count);
        break;
      case "purged":
        purged.inc(observation.count);
        break;
    }
  };
}

function readGauges({ gauge }: Instruments, given: ConfigGauges): void {
  const { replicas, dataLost, publishHealth, retainedData, issuers } = given;
  gauge(
    "jsonplane_replicas_live",
    "Data-plane replicas with a recent heartbeat, as of the last look; none while the operator that leads can't look, and of others",
    () => replicas()?.live,
  );
  gauge(
    "jsonplane_replica_refusals",
    "Fields of projects that some live replica can't use",
    () => replicas()?.refusals ?? 0,
  );
  gauge(
    "jsonplane_projects_unavailable",
    "Projects that are Ready and whose Available is not True: no live replica serves them, or nobody knows",
    given.unavailableProjects,
  );
  gauge(
    "jsonplane_data_lost",
    "1 while requests for data are refused because Redis no longer holds the data that it held",
    () => Number(dataLost()),
  );
  gauge(
    "jsonplane_projects_unpublished",
    "Projects whose configuration couldn't be written to Redis when it was tried last",
    () => publishHealth()?.projectsWithFailedWrites() ?? 0,
  );
  gauge(
    "jsonplane_operator_keyring_usable",
    "0 while the Secret of the fleet's key ring is missing, damaged, or not the one that was published with",
    () => Number(publishHealth()?.isKeyRingUsable() ?? true),
  );
  gauge(
    "jsonplane_revocation_waiting_seconds",
    "Age of the oldest deletion, or lowering of access, that some live replica has not acknowledged; 0 = none waits",
    () => given.oldestRevocationSeconds() ?? 0,
  );
  gauge(
    "jsonplane_retained_projects",
    "Projects, there or gone, of which stored data are kept that nobody serves",
    () => retainedData().projects,
  );
  gauge(
    "jsonplane_retained_data",
    "Collections and root keys whose data are kept without being served",
    () => retainedData().data,
  );
  gauge(
    "jsonplane_issuers_unreachable",
    "External issuers whose keys couldn't be fetched when it was tried last; those that were fetched before still count",
    () => issuers()?.unreachable ?? 0,
  );
  gauge(
    "jsonplane_issuer_keys_unconfirmed_seconds",
    "Age of the keys of the unreachable issuer that has been so for longest; 0 = every issuer can be reached",
    () => issuers()?.oldestFailureSeconds ?? 0,
  );
}

/** For each server that reports it. */
function readRedis({ gauges }: Instruments, redisServers: ConfigGauges["redisServers"]): void {
  const ofEach = (name: string, help: string, figureOf: (server: RedisServer) => number | undefined): void =>
    gauges(name, help, ["server"], () =>
      redisServers().flatMap((each) => {
        const value = figureOf(each);
        return value === undefined ? [] : [{ labels: { server: each.server }, value }];
      }),
    );
  ofEach("jsonplane_redis_memory_used_bytes", "Memory that a primary of Redis uses", ({ memory }) => memory?.usedBytes);
  ofEach(
    "jsonplane_redis_memory_max_bytes",
    "Memory that it may use, its maxmemory; 0 = no limit",
    ({ memory }) => memory?.maxBytes,
  );
  ofEach(
    "jsonplane_redis_certificate_expiry_timestamp_seconds",
    "When the certificate of a primary of Redis ends, or one that signed it, as new connections see it; none without TLS",
    ({ certificateEnds }) => certificateEnds && certificateEnds / 1_000,
  );
}

function readBackups({ gauge }: Instruments, backups: ConfigGauges["backups"]): void {
  gauge(
    "jsonplane_backup_max_age_seconds",
    "How old the newest backup may become; none where no backups are expected, as for the other metrics of backups",
    () => backups()?.maxAgeSeconds,
  );
  const ofLast = (name: string, help: string, figureOf: (last: BackupReport) => number): void =>
    gauge(name, help, () => {
      const found = backups();
      return found && (found.last === undefined ? 0 : figureOf(found.last));
    });
  ofLast(
    "jsonplane_backup_last_success_timestamp_seconds",
    "When the last complete backup of all Projects began; 0 = there was none, or Redis was emptied since",
    ({ beganAt }) => beganAt / 1_000,
  );
  ofLast(
    "jsonplane_backup_last_success_duration_seconds",
    "How long it took",
    ({ beganAt, endedAt }) => (endedAt - beganAt) / 1_000,
  );
  ofLast("jsonplane_backup_last_success_bytes", "Size of its files together", ({ bytes }) => bytes);
  ofLast("jsonplane_backup_last_success_objects", "Objects and values of root keys in it", ({ objects }) => objects);
}

function readObjects(
  { gauges }: Instruments,
  { objects, stalled, storedObjects, invalidStoredObjects }: ConfigGauges,
): void {
  gauges("jsonplane_objects", "Objects by kind, condition and its status", ["kind", "condition", "status"], () =>
    Array.from(objects(), ({ count, ...labels }) => ({ labels, value: count })),
  );
  gauges(
    "jsonplane_stalled_objects",
    "Objects with the condition Stalled, by namespace and reason; beyond 1,000 series counted under the namespace `(others)`",
    ["namespace", "kind", "reason"],
    () => Array.from(stalled(), ({ count, ...labels }) => ({ labels, value: count })),
  );
  gauges(
    "jsonplane_stored_objects",
    "Objects that the ApiResources of a Project hold, as replicas count them about once a minute; beyond 10,000 Projects counted under the namespace and project `(others)`",
    ["namespace", "project"],
    () => storedSeriesOf(storedObjects()).map(({ count, ...labels }) => ({ labels, value: count })),
  );
  gauges(
    "jsonplane_invalid_stored_objects",
    "Stored objects that don't meet the schema of their ApiResource, where it has that checked, as of the last check; beyond 1,000 namespaces counted under `(others)`",
    ["namespace"],
    () => Array.from(invalidStoredObjects(), ({ count, ...labels }) => ({ labels, value: count })),
  );
}
