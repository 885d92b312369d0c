// Revokes users and keys whose deletion was seen, of a Project of which nothing else may be published or withdrawn for now.

import type { Seen } from "../model/project-objects.ts";
import type { PublishedProject } from "../model/published-project.ts";
import type { AuditLog } from "../observe/audit-log.ts";
import type { Publisher } from "../publish/publisher.ts";
import { withdrawnBy } from "./withdrawn.ts";

/** What is missing may be unseen; of what somebody deleted that is known, and a key or a login waits for nothing else. */
export async function revokeDeleted(
  { objects, deleted }: Seen,
  { parts: before, data }: PublishedProject,
  publisher: Publisher,
  audit: AuditLog,
): Promise<void> {
  if (before === undefined) return;
  const gone = new Set(deleted.map(({ metadata }) => metadata.uid));
  const users = new Map([...before.users].filter(([, { uid }]) => !gone.has(uid)));
  const keys = new Map([...before.keys].filter(([, { uid }]) => !gone.has(uid)));
  if (users.size === before.users.size && keys.size === before.keys.size) return;
  const served = { ...before, users, keys };
  await publisher.publish(served, data);
  const withdrawn = withdrawnBy({ objects, deleted, before, served, verdicts: [], isNamespaceGone: false });
  for (const entry of withdrawn) audit.record(entry);
}
