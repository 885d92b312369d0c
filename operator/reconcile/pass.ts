// What one pass over a Project works with: what it was given, what it has found, and what it can
// call. Every step of the reconcile takes it; what later steps need of earlier ones is handed on by
// name.

import type { Clock } from "../../core/clock.ts";
import type { ProjectParts, ProjectRef } from "../../core/config/types.ts";
import type { HostGrant } from "../compile/hosts.ts";
import type { CheckResource } from "../compile/resource-check.ts";
import type { Absences } from "../finalize/absences.ts";
import type { AdvanceDeletionsDeps } from "../finalize/advance-deletions.ts";
import type { DeletionInbox } from "../finalize/deletion-inbox.ts";
import type { NamespaceUids } from "../finalize/namespace-uids.ts";
import type { IssuerFetcher } from "../issuers/issuer-fetcher.ts";
import type { IssuersContext } from "../model/issuers.ts";
import type { Project } from "../model/objects.ts";
import type { Seen } from "../model/project-objects.ts";
import type { PublishedProject } from "../publish/writer-session.ts";
import type { ConfigWriter, OpenRedis } from "../publish/config-writer.ts";
import type { PassHashes } from "../queue/password-hasher.ts";
import type { EventRecorder } from "../record/event-recorder.ts";
import type { ResolveTools } from "../resolve/resolution.ts";
import type { SecretStore } from "../secrets/secret-store.ts";
import type { StatusWriter } from "../status/status-writer.ts";

export interface ReconcileDeps extends AdvanceDeletionsDeps, Pick<ResolveTools, "random"> {
  /** Of passwords, in this pass over a Project, `<namespace>/<name>`. */
  readonly hashesOf: (project: string) => PassHashes;
  readonly writer: ConfigWriter;
  readonly absences: Absences;
  readonly namespaces: NamespaceUids;
  readonly deletions: DeletionInbox;
  /**
   * Of Projects whose status may report now what they store, by key, how many objects that is; the
   * status of others stays as it is.
   */
  readonly usageDue: ReadonlyMap<string, number | undefined>;
  readonly secrets: SecretStore;
  readonly grantOf: (project: Project) => HostGrant;
  readonly issuers: IssuersContext & Pick<IssuerFetcher, "use" | "projectsUsing">;
  /**
   * Called with what the project is published with now; undefined = it is withdrawn. `refusedUid`:
   * of the Project, if the platform's rules refuse it.
   */
  readonly onPublished: (ref: ProjectRef, parts: ProjectParts | undefined, refusedUid?: string) => void;
  /** Called after a pass that only revoked the credentials of deleted objects. */
  readonly onRevoked: (ref: ProjectRef) => void;
  readonly observePublish: (observation: PublishObservation) => void;
  readonly statuses: StatusWriter;
  /** Whether the Project has changed since the worker took its key: another run follows. */
  readonly isChanged: (ref: ProjectRef) => boolean;
  readonly recorder: EventRecorder;
  readonly checkResource: CheckResource;
  readonly clock: Clock;
  readonly baseUrlOf: (ref: ProjectRef) => string;
}

export type PublishObservation =
  | { readonly kind: "published"; readonly seconds: number; readonly fields: number }
  | { readonly kind: "publish_failed" };

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
