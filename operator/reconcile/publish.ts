// The step of a reconcile that publishes what was compiled, or withdraws the project, in one step with the record of its stored data;
// the audit log gets what was done. Rejects as the publisher does.

import type { ProjectParts } from "../../core/config/types.ts";
import { OutcomeUnknown } from "../../core/errors/store-errors.ts";
import { acceptedLossEntries, recordEntries } from "../finalize/data-audit.ts";
import { planData } from "../finalize/data-plan.ts";
import { withdrawnBy } from "../finalize/withdrawn.ts";
import type { DataRecord } from "../model/data-record.ts";
import type { Seen } from "../model/project-objects.ts";
import type { PublishedProject } from "../model/published-project.ts";
import type { AuditEntry, AuditLog } from "../observe/audit-log.ts";
import type { Publisher } from "../publish/publisher.ts";
import type { PublishResult } from "../publish/writer-session.ts";
import type { CompiledProject } from "../status/outcomes.ts";
import type { Pass } from "./pass.ts";

export async function publishStep(pass: Pass, compiled: CompiledProject): Promise<PublishResult> {
  const { objects, deps } = pass;
  const result = await write(pass, compiled);
  deps.deletions.markRecorded(compiled.requests, compiled.weighedAt);
  deps.onPublished(objects.ref, compiled.parts);
  return result;
}

async function write(pass: Pass, compiled: CompiledProject): Promise<PublishResult> {
  const { objects, namespaceUid, config, deps } = pass;
  const { clock, observePublish, audit } = deps;
  const { publisher } = config;
  const { parts, data } = compiled;
  // Without its namespace a Project is being deleted.
  const served = namespaceUid === undefined ? undefined : parts;
  const record = planData(data, {
    objects,
    ...(served !== undefined && { parts: served }),
    ...(namespaceUid !== undefined && { namespaceUid }),
  });
  const since = clock.monotonic();
  const loss = publisher.dataLoss();
  try {
    const result =
      served === undefined ? await publisher.withdraw(objects.ref, record) : await publisher.publish(served, record);
    const { changed } = result;
    if (changed > 0)
      observePublish({ kind: "published", seconds: (clock.monotonic() - since) / 1000, fields: changed });
    for (const entry of auditEntriesOf(pass, compiled, { served, record: result.data, loss })) audit.record(entry);
    return result;
  } catch (error) {
    // It may have taken place: then the next attempt finds no difference to record.
    if (error instanceof OutcomeUnknown) {
      for (const { action, facts } of auditEntriesOf(pass, compiled, { served, record, loss })) {
        audit.record({ action, facts: { ...facts, outcome: "unknown" } });
      }
    }
    observePublish({ kind: "publish_failed" });
    throw error;
  }
}

interface PublishedAs {
  readonly served: ProjectParts | undefined;
  readonly record: DataRecord | undefined;
  /** Name of the loss of stored data that is not accepted for all. */
  readonly loss: string | undefined;
}

function auditEntriesOf(
  pass: Pass,
  { verdicts }: CompiledProject,
  { served, record, loss }: PublishedAs,
): readonly AuditEntry[] {
  const { objects, deleted, published, namespaceUid } = pass;
  const isNamespaceGone = namespaceUid === undefined;
  const withdrawn = withdrawnBy({ objects, deleted, published: published.parts, served, verdicts, isNamespaceGone });
  return [
    ...withdrawn,
    ...recordEntries({ ref: objects.ref, before: published.data, after: record }),
    ...acceptedLossEntries(published.parts, served, loss),
  ];
}

/** A missing object may only be unseen, but the deletion of these is certain: keys and logins are revoked without waiting for others. */
export async function revokeDeleted(
  { objects, deleted }: Seen,
  { parts: published, data }: PublishedProject,
  publisher: Publisher,
  audit: AuditLog,
): Promise<void> {
  if (published === undefined) return;
  const gone = new Set(deleted.map(({ metadata }) => metadata.uid));
  const users = new Map([...published.users].filter(([, { uid }]) => !gone.has(uid)));
  const keys = new Map([...published.keys].filter(([, { uid }]) => !gone.has(uid)));
  if (users.size === published.users.size && keys.size === published.keys.size) return;
  const served = { ...published, users, keys };
  await publisher.publish(served, data);
  const withdrawn = withdrawnBy({ objects, deleted, published, served, verdicts: [], isNamespaceGone: false });
  for (const entry of withdrawn) audit.record(entry);
}
