// The step of a reconcile that publishes what was compiled, or withdraws the project, in one step with the record of its stored data;
// the audit log gets what was done. Rejects as the publisher does.

import type { ProjectParts } from "../../core/config/types.ts";
import { OutcomeUnknown } from "../../core/errors/store-errors.ts";
import { acceptedLossEntries, recordEntries } from "../finalize/data-audit.ts";
import { planData } from "../finalize/data-plan.ts";
import { withdrawnBy } from "../finalize/withdrawn.ts";
import type { DataRecord } from "../model/data-record.ts";
import type { AuditEntry } from "../observe/audit-log.ts";
import type { Published } from "../publish/publisher.ts";
import type { Compiled } from "./compile.ts";
import type { Pass } from "./pass.ts";

export async function publish(pass: Pass, compiled: Compiled): Promise<Published> {
  const { objects, deps } = pass;
  const published = await write(pass, compiled);
  deps.deletions.took(compiled.requests);
  deps.onPublished(objects.ref, compiled.parts);
  return published;
}

async function write(pass: Pass, compiled: Compiled): Promise<Published> {
  const { objects, namespaceUid, config, deps } = pass;
  const { clock, observePublish, audit } = deps;
  const { publisher } = config;
  const { parts, data } = compiled;
  // Without its namespace a project is on its way out.
  const served = namespaceUid === undefined ? undefined : parts;
  const record = planData(data, {
    objects,
    ...(served !== undefined && { parts: served }),
    ...(namespaceUid !== undefined && { namespaceUid }),
  });
  const since = clock.now();
  const loss = publisher.dataLoss();
  try {
    const published =
      served === undefined ? await publisher.withdraw(objects.ref, record) : await publisher.publish(served, record);
    const { changed } = published;
    if (changed > 0) observePublish({ kind: "published", seconds: (clock.now() - since) / 1000, fields: changed });
    for (const entry of auditEntriesOf(pass, compiled, { served, record: published.data, loss })) audit.record(entry);
    return published;
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
  { verdicts }: Compiled,
  { served, record, loss }: PublishedAs,
): readonly AuditEntry[] {
  const { objects, deleted, before, namespaceUid } = pass;
  const isNamespaceGone = namespaceUid === undefined;
  const withdrawn = withdrawnBy({ objects, deleted, before: before.parts, served, verdicts, isNamespaceGone });
  return [
    ...withdrawn,
    ...recordEntries({ ref: objects.ref, before: before.data, after: record }),
    ...acceptedLossEntries(before.parts, served, loss),
  ];
}
