// Writes compiled projects to Redis, field by field and only what changed, sealed, with one revision per step; beside them what
// is known of stored data. Refuses with NotTheWriter once another publisher took over, with ForeignInstance a Redis of another
// installation; the store's errors pass through, and the next publish finds out what holds.

import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { configKeys, projectName, projectOfName } from "../../core/config/config-keys.ts";
import { configFormat } from "../../core/config/fields.ts";
import type { Keyring } from "../../core/config/keyring.ts";
import { readEntry, writeEntry, writePublished } from "../../core/config/published-value.ts";
import { seal } from "../../core/config/seal.ts";
import type { ProjectParts, ProjectRef } from "../../core/config/types.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { fieldsOf, listOf, numberOf, optionalText } from "../../core/redis/reply.ts";
import type { DataRecord } from "../data-record.ts";
import type { PublishedProject } from "../published-project.ts";
import { type Change, changesOf, resealsOf } from "./changes.ts";
import { readDataRecords, recordOf, recordText, settledRecord } from "./data-records.ts";
import { type KnownProject, newestRevision, readProject } from "./known-project.ts";
import {
  createPublishScripts,
  noRecord,
  type PublishReply,
  type PublishStep,
  type RecordText,
  unchangedRecord,
} from "./publish-scripts.ts";

/** Another publisher has begun, or the configuration was emptied: begin anew and publish everything. */
export class NotTheWriter extends Error {
  override readonly name = "NotTheWriter";
}

/** The Redis belongs to another installation, or to one whose key ring was lost. */
export class ForeignInstance extends Error {
  override readonly name = "ForeignInstance";
}

export interface Published {
  /** Fields written or removed; 0 when Redis had all of it already. */
  readonly changed: number;
  /** Replicas that have it serve nothing older of the project. */
  readonly revision: number;
  /** What is known of stored data now: entries that waited for a revision have it. */
  readonly data?: DataRecord;
}

export interface PublishedEntry extends ProjectRef {
  readonly hosts: readonly string[];
}

export interface BeginOptions {
  /** Asked once the epoch was taken: whether this process may still write. */
  readonly confirm?: () => Promise<boolean>;
  /** Takes the Redis of another installation over. */
  readonly takeOver?: boolean;
}

export interface Publisher {
  /** Takes over from whoever wrote before. Everything else throws NotTheWriter until it was called. */
  begin(options?: BeginOptions): Promise<void>;
  /** One look at Redis, whether this publisher still is the writer. */
  verify(): Promise<"writer" | "lost">;
  /** What is published of a project; from memory while this publisher is the writer. */
  load(ref: ProjectRef): Promise<PublishedProject>;
  /** `data` = what to record of stored data, in the same step; undefined = nothing. */
  publish(parts: ProjectParts, data?: DataRecord): Promise<Published>;
  /** Withdraws a project's configuration and leaves `data` on record. Stored data stay. */
  withdraw(ref: ProjectRef, data?: DataRecord): Promise<Published>;
  /** Records what is known of stored data, alone. */
  writeData(ref: ProjectRef, data: DataRecord | undefined): Promise<void>;
  /** Projects of which there may be stored data, published or not. */
  dataRecords(): ReadonlyMap<string, DataRecord>;
  /**
   * Says that every project has been published. Until then, after Redis was emptied, replicas add what they find and take
   * nothing for gone, and new replicas are not ready.
   */
  complete(): Promise<void>;
  /** Projects that have configuration in Redis. */
  published(): Promise<readonly PublishedEntry[]>;
  /** The revision of the newest publish of all. */
  newest(): number;
  /** From now on this ring seals. What is sealed with another key of it stays readable. */
  setKeyring(keyring: Keyring): void;
  /** Seals anew what another key than the ring's first has sealed; answers with how many fields. */
  reseal(ref: ProjectRef): Promise<number>;
  /** Key ids that the fields of the project are sealed with. */
  sealedWith(ref: ProjectRef): Promise<ReadonlySet<string>>;
  /** For writes of other stages under the same fence: the epoch. Throws NotTheWriter. */
  fenced(write: (epoch: number) => Promise<PublishReply>): Promise<void>;
}

export interface PublisherDeps {
  readonly gateway: Gateway;
  readonly keyring: Keyring;
  readonly clock: Clock;
  /** Names this installation; another one's Redis is refused. */
  readonly owner: string;
}

const mostOvertakings = 10;

export function createPublisher(deps: PublisherDeps): Publisher {
  return new RedisPublisher(deps);
}

class RedisPublisher implements Publisher {
  readonly #gateway: Gateway;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #scripts: ReturnType<typeof createPublishScripts>;
  /** What Redis holds, by project: only this publisher writes while its epoch stands. */
  readonly #known = new Map<string, KnownProject>();
  #records = new Map<string, DataRecord>();
  #keyring: Keyring;
  #epoch: number | undefined;
  #lastRevision = "0";

  constructor({ gateway, keyring, clock, owner }: PublisherDeps) {
    this.#gateway = gateway;
    this.#keyring = keyring;
    this.#clock = clock;
    this.#owner = owner;
    this.#scripts = createPublishScripts(gateway);
  }

  async begin({ confirm, takeOver = false }: BeginOptions = {}): Promise<void> {
    const { meta } = configKeys;
    this.#forget();
    await this.#claim(takeOver);
    const epoch = numberOf(await this.#gateway.write(meta, "HINCRBY", meta, "epoch", 1));
    if (confirm !== undefined && !(await confirm())) {
      throw new NotTheWriter("This process may not write any more");
    }
    this.#lastRevision = optionalText(await this.#gateway.read(meta, "HGET", meta, "revision")) ?? "0";
    this.#records = await readDataRecords(this.#gateway);
    this.#epoch = epoch;
  }

  async verify(): Promise<"writer" | "lost"> {
    const { meta } = configKeys;
    const epoch = optionalText(await this.#gateway.read(meta, "HGET", meta, "epoch"));
    if (this.#epoch !== undefined && epoch === String(this.#epoch)) return "writer";
    this.#forget();
    return "lost";
  }

  async load(ref: ProjectRef): Promise<PublishedProject> {
    this.#writing();
    const known = await this.#knownOf(ref);
    const data = recordOf(this.#records, ref);
    return {
      revision: newestRevision(known),
      ...(known.parts !== undefined && { parts: known.parts }),
      ...(data !== undefined && { data }),
    };
  }

  async publish(parts: ProjectParts, data?: DataRecord): Promise<Published> {
    this.#writing();
    const { project } = parts;
    const known = await this.#knownOf(project);
    const steps = changesOf(parts, this.#keyring, known.fields);
    try {
      for (const [index, step] of steps.entries()) {
        // What is doomed is doomed once the last of it is out of service.
        await this.#write(parts, step, index === steps.length - 1 ? data : undefined);
      }
    } catch (error) {
      // Perhaps written, perhaps not: look before the next step.
      this.#known.delete(projectName(project));
      throw error;
    }
    known.parts = parts;
    const revision = newestRevision(known);
    if (steps.length === 0)
      await this.writeData(project, data && settledRecord(data, Math.max(revision, this.newest())));
    const changed = steps.reduce((sum, step) => sum + step.changed.length + step.removed.length, 0);
    return this.#published(project, { changed, revision });
  }

  async withdraw(ref: ProjectRef, data?: DataRecord): Promise<Published> {
    this.#writing();
    const known = await this.#knownOf(ref);
    if (known.fields.size === 0) {
      await this.writeData(ref, data && settledRecord(data, this.newest()));
      return this.#published(ref, { changed: 0, revision: this.newest() });
    }
    this.#known.delete(projectName(ref));
    const revision = await this.#advance(ref, (step) => {
      const record = this.#recordText(ref, data && settledRecord(data, step.revision));
      return this.#scripts.withdraw({ ...step, record });
    });
    this.#remember(ref, data && settledRecord(data, revision));
    return this.#published(ref, { changed: known.fields.size, revision });
  }

  async writeData(ref: ProjectRef, data: DataRecord | undefined): Promise<void> {
    const text = this.#recordText(ref, data);
    if (text === unchangedRecord) return;
    await this.fenced((epoch) => this.#scripts.recordData(epoch, ref, text));
    this.#remember(ref, data);
  }

  dataRecords(): ReadonlyMap<string, DataRecord> {
    return this.#records;
  }

  async complete(): Promise<void> {
    await this.fenced((epoch) => this.#scripts.complete(epoch));
  }

  async published(): Promise<readonly PublishedEntry[]> {
    const { projects } = configKeys;
    const entries = fieldsOf(await this.#gateway.read(projects, "HGETALL", projects));
    return [...entries].map(([name, text]) => ({ ...projectOfName(name), hosts: readEntry(text)?.hosts ?? [] }));
  }

  newest(): number {
    return Number(this.#lastRevision);
  }

  setKeyring(keyring: Keyring): void {
    this.#keyring = keyring;
  }

  async reseal(ref: ProjectRef): Promise<number> {
    const known = await this.#knownOf(ref);
    if (known.parts === undefined) return 0;
    const steps = resealsOf(known.parts, this.#keyring, known.fields);
    for (const step of steps) await this.#write(known.parts, step, this.#records.get(projectName(ref)));
    return steps.reduce((sum, step) => sum + step.changed.length, 0);
  }

  async sealedWith(ref: ProjectRef): Promise<ReadonlySet<string>> {
    return new Set([...(await this.#knownOf(ref)).fields.values()].map(({ kid }) => kid));
  }

  async fenced(write: (epoch: number) => Promise<PublishReply>): Promise<void> {
    const reply = await write(this.#writing());
    if (reply.outcome !== "published") throw this.#lost();
  }

  // ---------------------------------------------------------------------------------------------------------------- inside

  /** Writes only what isn't there. `instance` names this filling of Redis: replicas see by it that Redis was emptied. */
  async #claim(takeOver: boolean): Promise<void> {
    const { meta } = configKeys;
    const found = await this.#gateway.read(meta, "HMGET", meta, "owner", "instance", "format");
    const [owner, instance, format] = listOf(found).map(optionalText);
    if (owner !== undefined && owner !== this.#owner && !takeOver) {
      throw new ForeignInstance(
        "This Redis holds the configuration of another installation, or the fleet's key ring was lost: name another Redis with --redis, bring the Secret of the key ring back, or start with --adopt-data to take it over",
      );
    }
    if (owner !== this.#owner) await this.#gateway.write(meta, "HSET", meta, "owner", this.#owner);
    if (instance === undefined) await this.#gateway.write(meta, "HSETNX", meta, "instance", randomUUID());
    if (format !== String(configFormat)) await this.#gateway.write(meta, "HSET", meta, "format", configFormat);
  }

  async #knownOf(ref: ProjectRef): Promise<KnownProject> {
    const name = projectName(ref);
    const cached = this.#known.get(name);
    if (cached !== undefined) return cached;
    const read = await readProject(this.#gateway, this.#keyring, ref);
    this.#known.set(name, read);
    return read;
  }

  /** Writes one step, and what is on record with it. */
  async #write(parts: ProjectParts, change: Change, data: DataRecord | undefined): Promise<void> {
    const { project } = parts;
    const known = await this.#knownOf(project);
    const [sealing] = this.#keyring.keys;
    const keep = data === undefined && change.last !== true;
    const revision = await this.#advance(project, async (step) => {
      const values = await Promise.all(
        change.changed.map(async ({ field, text, contentHash }) => {
          const place = { namespace: project.namespace, name: project.name, uid: project.uid, field };
          const sealed = await seal(this.#keyring, { ...place, revision: step.revision }, text);
          return { field, value: writePublished({ revision: step.revision, contentHash, sealed }) };
        }),
      );
      const entry = writeEntry({ revision: step.revision, hosts: project.hosts });
      const record = keep ? unchangedRecord : this.#recordText(project, data && settledRecord(data, step.revision));
      return this.#scripts.publish({ ...step, entry, record, values, removed: change.removed });
    });
    for (const { field, contentHash } of change.changed) {
      known.fields.set(field, { contentHash, revision, kid: sealing.kid });
    }
    for (const field of change.removed) known.fields.delete(field);
    if (!keep) this.#remember(project, data && settledRecord(data, revision));
  }

  /** Runs one step with the next revision, again with a newer one when something was published meanwhile. */
  async #advance(ref: ProjectRef, run: (step: PublishStep) => Promise<PublishReply>): Promise<number> {
    for (let attempt = 0; attempt < mostOvertakings; attempt += 1) {
      const epoch = this.#writing();
      // Milliseconds, so that revisions go on growing when Redis was emptied and the count began anew.
      const revision = Math.max(Number(this.#lastRevision) + 1, this.#clock.now());
      const reply = await run({ ref, epoch, lastRevision: this.#lastRevision, revision });
      if (reply.outcome === "published") {
        this.#lastRevision = String(Math.max(revision, Number(this.#lastRevision)));
        return revision;
      }
      if (reply.outcome === "not_the_writer") throw this.#lost();
      this.#lastRevision = reply.revision;
    }
    throw new NotTheWriter("Another publisher kept writing at the same time");
  }

  #recordText(ref: ProjectRef, data: DataRecord | undefined): RecordText {
    const [before, after] = [recordText(recordOf(this.#records, ref)), recordText(data)];
    if (before === after) return unchangedRecord;
    return data === undefined ? noRecord : after;
  }

  #remember(ref: ProjectRef, data: DataRecord | undefined): void {
    if (data === undefined) this.#records.delete(projectName(ref));
    else this.#records.set(projectName(ref), data);
  }

  #published(ref: ProjectRef, done: Omit<Published, "data">): Published {
    const data = recordOf(this.#records, ref);
    return data === undefined ? done : { ...done, data };
  }

  #writing(): number {
    if (this.#epoch === undefined) throw new NotTheWriter("The publisher has not begun");
    return this.#epoch;
  }

  #lost(): NotTheWriter {
    this.#forget();
    return new NotTheWriter("Another publisher writes, or the configuration was emptied");
  }

  #forget(): void {
    this.#epoch = undefined;
    this.#known.clear();
    this.#records = new Map();
  }
}
