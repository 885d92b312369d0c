// What one pass over a Project works with: what it was given, what it has found, and what it can
// call. Every step of the reconcile takes it; what later steps need of earlier ones is handed on by
// name.

import type { Clock } from "../../core/clock.ts";
import type { CompiledProject, ProjectRef } from "../../core/config/types.ts";
import type { HostGrant } from "../compile/hosts.ts";
import type { CheckResource } from "../compile/resource-check.ts";
import type { Absences } from "../deletion/absences.ts";
import type { Deletions } from "../deletion/advance-deletions.ts";
import type { NamespaceUids } from "../deletion/namespace-uids.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import type { IssuerFetcher } from "../issuers/issuer-fetcher.ts";
import type { IssuersContext } from "../model/issuers.ts";
import type { Project } from "../model/objects.ts";
import type { Seen } from "../model/project-objects.ts";
import type { AuditLog } from "../observe/audit-log.ts";
import type { OperatorMetrics } from "../observe/metrics.ts";
import type { ConfigWriter, OpenRedis } from "../publish/config-writer.ts";
import type { PublishedProject } from "../publish/writer-session.ts";
import type { PasswordHasher } from "../queue/password-hasher.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import type { StatusWriter } from "../status/status-writer.ts";
import type { DataCopies } from "../stored-data/data-copies.ts";
import type { DeletionInbox } from "../stored-data/deletion-inbox.ts";
import type { ObjectChecks } from "../stored-data/object-checks.ts";

/** What the watches tell a pass. */
export interface WatchedForPass {
  /** Whether the Project has changed since the worker took its key: another run follows. */
  isChanged(ref: ProjectRef): boolean;
}

/** What all passes of one leader work with. */
export interface ReconcileDeps {
  readonly clock: Clock;
  readonly settings: {
    /** Take over what another installation, or an earlier namespace, left. */
    readonly adopt: boolean;
    readonly baseUrlOf: (ref: ProjectRef) => string;
  };
  readonly watched: WatchedForPass;
  readonly writer: ConfigWriter;
  readonly absences: Absences;
  readonly namespaces: NamespaceUids;
  readonly secrets: SecretStore;
  readonly hasher: Pick<PasswordHasher, "passOf">;
  readonly hosts: { grantOf(project: Project): HostGrant };
  readonly issuers: IssuersContext & Pick<IssuerFetcher, "use" | "projectsUsing">;
  readonly checkResource: CheckResource;
  readonly deletionRequests: DeletionInbox;
  readonly deletions: Deletions;
  /**
   * Of Projects whose status may report now what they store, by key, how many objects that is; the
   * status of others stays as it is.
   */
  readonly usageDue: ReadonlyMap<string, number | undefined>;
  readonly checks: Pick<ObjectChecks, "heldSchemas" | "reportsOf">;
  readonly copies: Pick<DataCopies, "reportOf">;
  readonly statuses: StatusWriter;
  readonly listener: PassListener;
  readonly recorder: EventRecorder;
  readonly audit: AuditLog;
  readonly metrics: Pick<OperatorMetrics, "observeConfig">;
}

/** What the rest of the leader is told of a pass. */
export interface PassListener {
  /**
   * The project is published with this now; undefined = it is withdrawn. `refusedUid`: of the
   * Project, if the platform's rules refuse it.
   */
  published(ref: ProjectRef, config: CompiledProject | undefined, refusedUid?: string): void;
  /** A pass has only revoked the credentials of deleted objects. */
  revoked(ref: ProjectRef): void;
}

/** A pass that has started: Redis is open, and what is published is known. */
export interface StartedPass extends Seen {
  /** What was published before. */
  readonly published: PublishedProject;
  readonly redis: OpenRedis;
  readonly deps: ReconcileDeps;
}

export interface Pass extends StartedPass {
  /** UID of the namespace; undefined when there is none any more, or none that may be asked for. */
  readonly namespaceUid: string | undefined;
}
