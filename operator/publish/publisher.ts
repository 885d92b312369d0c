// Writes compiled projects to Redis, field by field and only what changed, sealed, with one revision per step. Refuses with
// NotTheWriter once another publisher took over; the store's errors pass through, and the next publish finds out what holds.

import type { Clock } from "../../core/clock.ts";
import { configKeys, credentialsKey, projectKey, projectName, projectOfName } from "../../core/config/config-keys.ts";
import { configFormat, fieldTexts } from "../../core/config/fields.ts";
import { type Keyring, keyedHash } from "../../core/config/keyring.ts";
import { readPublished, writeEntry, writePublished } from "../../core/config/published-value.ts";
import { seal } from "../../core/config/seal.ts";
import type { ProjectParts, ProjectRef } from "../../core/config/types.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { fieldsOf, numberOf, optionalText, textsOf } from "../../core/redis/reply.ts";
import { createPublishScripts, type PublishReply, type PublishStep } from "./publish-scripts.ts";

/** Another publisher has begun, or the configuration was emptied: begin anew and publish everything. */
export class NotTheWriter extends Error {
  override readonly name = "NotTheWriter";
}

export interface Published {
  /** Fields written or removed; 0 when Redis had all of it already. */
  readonly changed: number;
  /** The project's newest revision; replicas that have it serve nothing older. */
  readonly revision: number;
}

export interface Publisher {
  /** Takes over from whoever wrote before. Everything else throws NotTheWriter until it was called. */
  begin(): Promise<void>;
  publish(parts: ProjectParts): Promise<Published>;
  /** Withdraws a project's configuration; false when there was none. Stored data stay. */
  withdraw(ref: ProjectRef): Promise<boolean>;
  /**
   * Says that every project has been published. Until then, after Redis was emptied, replicas add what they find and take
   * nothing for gone, and new replicas are not ready.
   */
  complete(): Promise<void>;
  /** Projects that have configuration in Redis. */
  published(): Promise<readonly ProjectRef[]>;
}

export interface PublisherDeps {
  readonly gateway: Gateway;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** Names this installation in `meta`, once. */
  readonly newInstance: () => string;
}

interface KnownField {
  readonly contentHash: string;
  readonly revision: number;
}

type KnownFields = Map<string, KnownField>;

/** Fields that one script writes at most: some 200 KiB, a few milliseconds of Redis. */
const fieldsPerStep = 200;
const mostOvertakings = 10;

export function createPublisher(deps: PublisherDeps): Publisher {
  const { gateway, keyring, clock } = deps;
  const scripts = createPublishScripts(gateway);
  /** What Redis holds, by project: only this publisher writes while its epoch stands. */
  const known = new Map<string, KnownFields>();
  let epoch: number | undefined;
  let lastRevision = "0";

  const knownOf = async (ref: ProjectRef): Promise<KnownFields> => {
    const name = projectName(ref);
    const cached = known.get(name);
    if (cached) return cached;
    const [fields, credentials] = await Promise.all([
      gateway.read(projectKey(ref), "HGETALL", projectKey(ref)),
      gateway.read(credentialsKey(ref), "HGETALL", credentialsKey(ref)),
    ]);
    const loaded = new Map([...knownFields(fieldsOf(fields)), ...knownFields(fieldsOf(credentials))]);
    known.set(name, loaded);
    return loaded;
  };

  const lost = (message: string): NotTheWriter => {
    epoch = undefined;
    known.clear();
    return new NotTheWriter(message);
  };

  /** Runs one step with the next revision, again with a newer one when something was published meanwhile. */
  const advance = async (ref: ProjectRef, run: (step: PublishStep) => Promise<PublishReply>): Promise<number> => {
    for (let attempt = 0; attempt < mostOvertakings; attempt += 1) {
      if (epoch === undefined) throw new NotTheWriter("The publisher has not begun");
      // Milliseconds, so that revisions go on growing when Redis was emptied and the count began anew.
      const revision = Math.max(Number(lastRevision) + 1, clock.now());
      const reply = await run({ ref, epoch, lastRevision, revision });
      if (reply.outcome === "published") {
        lastRevision = String(revision);
        return revision;
      }
      if (reply.outcome === "not_the_writer") throw lost("Another publisher writes, or the configuration was emptied");
      lastRevision = reply.revision;
    }
    throw new NotTheWriter("Another publisher kept writing at the same time");
  };

  const write = async (parts: ProjectParts, change: Change): Promise<number> => {
    const { project } = parts;
    return advance(project, async (step) => {
      const values = await Promise.all(
        change.changed.map(async ({ field, text, contentHash }) => {
          const place = { namespace: project.namespace, name: project.name, uid: project.uid, field };
          const sealed = await seal(keyring, { ...place, revision: step.revision }, text);
          return { field, value: writePublished({ revision: step.revision, contentHash, sealed }) };
        }),
      );
      const entry = writeEntry({ revision: step.revision, hosts: project.hosts });
      return scripts.publish({ ...step, entry, values, removed: change.removed });
    });
  };

  return {
    async begin() {
      known.clear();
      await gateway.write(configKeys.meta, "HSETNX", configKeys.meta, "instance", deps.newInstance());
      await gateway.write(configKeys.meta, "HSET", configKeys.meta, "format", configFormat);
      epoch = numberOf(await gateway.write(configKeys.meta, "HINCRBY", configKeys.meta, "epoch", 1));
      lastRevision = optionalText(await gateway.read(configKeys.meta, "HGET", configKeys.meta, "revision")) ?? "0";
    },
    async publish(parts) {
      if (epoch === undefined) throw new NotTheWriter("The publisher has not begun");
      const name = projectName(parts.project);
      try {
        const fields = await knownOf(parts.project);
        const steps = changesOf(parts, keyring, fields);
        for (const step of steps) {
          const revision = await write(parts, step);
          for (const { field, contentHash } of step.changed) fields.set(field, { contentHash, revision });
          for (const field of step.removed) fields.delete(field);
        }
        const changed = steps.reduce((sum, step) => sum + step.changed.length + step.removed.length, 0);
        return { changed, revision: Math.max(...[...fields.values()].map((field) => field.revision)) };
      } catch (error) {
        // Perhaps written, perhaps not: look before the next step.
        known.delete(name);
        throw error;
      }
    },
    async withdraw(ref) {
      const existing = await gateway.read(configKeys.projects, "HGET", configKeys.projects, projectName(ref));
      if (existing === null) return false;
      known.delete(projectName(ref));
      await advance(ref, (step) => scripts.withdraw(step));
      return true;
    },
    async complete() {
      if (epoch === undefined) throw new NotTheWriter("The publisher has not begun");
      const reply = await scripts.complete(epoch);
      if (reply.outcome !== "published") throw lost("Another publisher writes, or the configuration was emptied");
    },
    async published() {
      return textsOf(await gateway.read(configKeys.projects, "HKEYS", configKeys.projects)).map(projectOfName);
    },
  };
}

interface Change {
  readonly changed: readonly { readonly field: string; readonly text: string; readonly contentHash: string }[];
  readonly removed: readonly string[];
}

/** What has to be written, removals first: they are revocations. */
function changesOf(parts: ProjectParts, keyring: Keyring, known: KnownFields): readonly Change[] {
  const texts = fieldTexts(parts, keyring);
  const removed = [...known.keys()].filter((field) => !texts.has(field));
  const changed = [...texts]
    .map(([field, text]) => {
      const contentHash = keyedHash(keyring, "content", `${parts.project.uid}\n${field}\n${text}`);
      return { field, text, contentHash };
    })
    .filter(({ field, contentHash }) => known.get(field)?.contentHash !== contentHash);
  const steps: Change[] = [];
  for (let at = 0; at < Math.max(changed.length, removed.length); at += fieldsPerStep) {
    steps.push({ changed: changed.slice(at, at + fieldsPerStep), removed: removed.slice(at, at + fieldsPerStep) });
  }
  return steps;
}

function knownFields(values: ReadonlyMap<string, string>): KnownFields {
  const fields: KnownFields = new Map();
  for (const [field, text] of values) {
    const value = readPublished(text);
    // What can't be read is written anew: an empty hash equals none.
    fields.set(field, { contentHash: value?.contentHash ?? "", revision: value?.revision ?? 0 });
  }
  return fields;
}
