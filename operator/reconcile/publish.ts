// The step of a reconcile that publishes what was compiled, or withdraws the project, in one step
// with the inventory of its stored data; the audit log gets what was done. Rejects as the publisher
// does.

import { isDeepStrictEqual } from "node:util";
import type { CompiledProject, KeyConfig, UserConfig } from "../../core/config/types.ts";
import { OutcomeUnknown } from "../../core/errors/store-errors.ts";
import { compileIssuers, suspendedIssuers } from "../compile/issuers.ts";
import { withdrawnBy } from "../deletion/withdrawn.ts";
import type { DataInventory } from "../model/data-inventory.ts";
import type { Child } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";
import type { AuditEntry } from "../observe/audit-log.ts";
import type { PublishResult } from "../publish/writer-session.ts";
import type { CompileOutcome } from "../status/outcomes.ts";
import { inventoryAuditEntries } from "../stored-data/data-audit.ts";
import { planData } from "../stored-data/data-plan.ts";
import type { Pass, StartedPass } from "./pass.ts";

export async function publishStep(pass: Pass, compiled: CompileOutcome): Promise<PublishResult> {
  const { objects, deps } = pass;
  // Without its namespace a Project is being deleted.
  const served = pass.namespaceUid === undefined ? undefined : compiled.config;
  const result = await write(pass, compiled, served);
  deps.deletionRequests.markRecorded(compiled.requests, compiled.evaluatedAt);
  deps.listener.published(objects.ref, served, refusedUid(objects));
  return result;
}

function refusedUid({ project, notAllowed }: Pass["objects"]): string | undefined {
  const uid = project?.metadata.uid;
  return uid !== undefined && notAllowed?.has(uid) ? uid : undefined;
}

async function write(
  pass: Pass,
  compiled: CompileOutcome,
  served: CompiledProject | undefined,
): Promise<PublishResult> {
  const { objects, namespaceUid, redis, deps } = pass;
  const { clock, metrics, audit } = deps;
  const { publisher } = redis;
  const inventory = planData(compiled.data, {
    objects,
    ...(served !== undefined && { config: served }),
    ...(namespaceUid !== undefined && { namespaceUid }),
  });
  const since = clock.monotonic();
  try {
    const result =
      served === undefined
        ? await publisher.withdraw(objects.ref, inventory)
        : await publisher.publish(served, inventory);
    const { changed } = result;
    if (changed > 0)
      metrics.observeConfig({ kind: "published", seconds: (clock.monotonic() - since) / 1000, fields: changed });
    for (const entry of auditEntriesOf(pass, compiled, { served, inventory: result.data })) audit.write(entry);
    return result;
  } catch (error) {
    // It may have taken place: then the next attempt finds no difference to record.
    if (error instanceof OutcomeUnknown) {
      for (const { action, facts } of auditEntriesOf(pass, compiled, { served, inventory })) {
        audit.write({ action, facts: { ...facts, outcome: "unknown" } });
      }
    }
    metrics.observeConfig({ kind: "publish_failed" });
    throw error;
  }
}

interface PublishedAs {
  readonly served: CompiledProject | undefined;
  readonly inventory: DataInventory | undefined;
}

function auditEntriesOf(
  pass: Pass,
  { verdicts }: CompileOutcome,
  { served, inventory }: PublishedAs,
): readonly AuditEntry[] {
  const { objects, deleted, published, namespaceUid } = pass;
  const isNamespaceGone = namespaceUid === undefined;
  const withdrawn = withdrawnBy({ objects, deleted, published: published.config, served, verdicts, isNamespaceGone });
  return [...withdrawn, ...inventoryAuditEntries({ ref: objects.ref, before: published.data, after: inventory })];
}

/**
 * A missing object may only be unseen, but the deletion of these is certain: keys and logins are
 * revoked without waiting for others. So is what a Project that is there no longer names.
 */
export async function revokeDeleted(started: StartedPass): Promise<void> {
  const gone = new Set(started.deleted.map(({ metadata }) => metadata.uid));
  const stays = ({ uid }: { readonly uid: string }): boolean => !gone.has(uid);
  await revoke(started, { user: stays, key: stays, issuers: (config) => issuersLeft(started, config) });
}

/**
 * What is missing has gone, whatever has its name by now: nothing else is decided of credentials
 * here.
 */
export async function revokeGone(started: StartedPass): Promise<void> {
  const { project, users, keys } = started.objects;
  const present = <C extends Child>(children: readonly C[]): readonly C[] =>
    project === undefined || isDeleting(project) ? [] : children.filter((child) => !isDeleting(child));
  const uids = new Set([...present(users), ...present(keys)].map(({ metadata }) => metadata.uid));
  const stays = ({ uid }: { readonly uid: string }): boolean => uids.has(uid);
  await revoke(started, {
    user: stays,
    key: stays,
    issuers: (config) => (project === undefined || isDeleting(project) ? new Map() : issuersLeft(started, config)),
  });
}

/** None of a former Project of the name: it has been replaced. */
function issuersLeft(
  { objects: { project }, deps: { issuers } }: StartedPass,
  published: CompiledProject,
): CompiledProject["issuers"] {
  if (project === undefined) return published.issuers;
  if (project.metadata.uid !== published.project.uid) return new Map();
  return project.spec.suspend
    ? suspendedIssuers(project, published.issuers, issuers)
    : compileIssuers(project, published, issuers).issuers;
}

interface Staying {
  readonly user: (user: UserConfig) => boolean;
  readonly key: (key: KeyConfig) => boolean;
  /** Those that stay. */
  readonly issuers: (published: CompiledProject) => CompiledProject["issuers"];
}

/** Publishes what was published last, without the credentials that don't stay. */
async function revoke({ objects, deleted, published, redis, deps }: StartedPass, stays: Staying): Promise<void> {
  const { config, data } = published;
  // Without a deletion there may be lowered access, which is still to be published.
  const isOver = (): void => void (deleted.length > 0 && deps.listener.revoked(objects.ref));
  if (config === undefined) return isOver();
  const users = new Map([...config.users].filter(([, user]) => stays.user(user)));
  const keys = new Map([...config.keys].filter(([, key]) => stays.key(key)));
  const issuers = stays.issuers(config);
  const isSame = users.size === config.users.size && keys.size === config.keys.size;
  if (isSame && isDeepStrictEqual(issuers, config.issuers)) return isOver();
  const served = { ...config, users, keys, issuers };
  await redis.publisher.publish(served, data);
  isOver();
  const withdrawn = withdrawnBy({ objects, deleted, published: config, served, verdicts: [], isNamespaceGone: false });
  for (const entry of withdrawn) deps.audit.write(entry);
}
