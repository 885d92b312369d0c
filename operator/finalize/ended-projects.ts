// Says which Projects of one name have ended, so that their sessions are to be purged: no token of theirs is accepted any more, whatever
// becomes of the data. Recorded with the publish that serves them no more, and until a replica has purged the sessions.

import type { ProjectParts } from "../../core/config/types.ts";
import type { EndedProject } from "../model/data-record.ts";
import type { Project } from "../model/objects.ts";
import { purgeId } from "./advance-purges.ts";

/** Beyond it the earliest are left to expire: nobody carries out purges, so nobody opens sessions either. */
const maxEndedProjects = 100;

export interface EndInput {
  readonly ended: readonly EndedProject[];
  readonly project: Project | undefined;
  /** What is published now. */
  readonly previousParts?: ProjectParts | undefined;
  /** Ids of purges that have been ordered. */
  readonly ordered: ReadonlySet<string>;
}

export function endedProjects({ ended, project, previousParts, ordered }: EndInput): readonly EndedProject[] {
  const live = project?.metadata.deletionTimestamp === undefined ? project?.metadata.uid : undefined;
  // One that comes back as itself, out of a backup or from another class, keeps its sessions if it comes in time.
  const kept = ended.filter((each) => each.uid !== live || ordered.has(purgeId(each)));
  const served = previousParts?.project.uid;
  if (served === undefined || served === live || kept.some(({ uid }) => uid === served)) return kept;
  return [...kept, { uid: served, purgeFromRevision: 0 }].slice(-maxEndedProjects);
}
