// Writes configuration under one epoch, each step with the revision that follows the newest, one
// step after the other. Once another publisher has begun, or Redis was emptied or lost writes,
// every write is refused with NotTheWriter, also of a publish that is under way. What Redis holds
// is remembered, because nobody else writes it.

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { Keyring } from "../../core/config/keyring.ts";
import { writeEntry, writePublished } from "../../core/config/published-value.ts";
import { seal } from "../../core/config/seal.ts";
import type { CompiledProject, ProjectRef } from "../../core/config/types.ts";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { DataInventory } from "../model/data-inventory.ts";
import { inventoryText, readDataInventory, withPurgeRevision } from "./data-inventories.ts";
import { type Change, changesOf, type PublishedContent, readProject, resealsOf } from "./project-fields.ts";
import { type PublishHistory, withLastCredentials, withoutRevoked } from "./publish-history.ts";
import {
  type InventoryText,
  noInventory,
  type PublishReply,
  type PublishScripts,
  type PublishStep,
  unchangedInventory,
} from "./publish-scripts.ts";
import { NotTheWriter } from "./refusals.ts";

/** What Redis holds of one project. */
export interface PublishedProject {
  /**
   * Absent when nothing is published, or nothing that the key ring opens. A field that can't be
   * opened is left out.
   */
  readonly config?: CompiledProject;
  readonly data?: DataInventory;
  /** The revision of the project's newest step, removals included; 0 when nothing is published. */
  readonly revision: number;
}

export interface PublishResult {
  /** Fields written or removed; 0 when Redis had all of it already. */
  readonly changed: number;
  /** Replicas that have it serve nothing older of the project. */
  readonly revision: number;
  /** What is known of stored data now: entries that waited for a revision have it. */
  readonly data?: DataInventory;
}

export interface WriterSessionDeps {
  readonly redisClient: RedisClient;
  readonly scripts: PublishScripts;
  readonly keyring: () => Keyring;
  readonly clock: Clock;
  readonly epoch: string;
  /** Value of `revision` in the meta hash when the session began. */
  readonly revision: string;
  /** As they stood in Redis when it began. */
  readonly inventories: Map<string, DataInventory>;
  readonly history: PublishHistory;
}

/** What to record of stored data with the step that gets this revision. */
type InventoryAt = (revision: number) => DataInventory | undefined;

/** What a step makes of a project. */
interface Next {
  /** Undefined = it is withdrawn. */
  readonly config: CompiledProject | undefined;
  readonly inventoryAt: InventoryAt;
}

export class WriterSession {
  readonly epoch: string;
  /** By `<namespace>/<name>`. */
  readonly inventories: Map<string, DataInventory>;
  readonly #redisClient: RedisClient;
  readonly #scripts: PublishScripts;
  readonly #keyring: () => Keyring;
  readonly #history: PublishHistory;
  readonly #published = new Map<string, PublishedContent>();
  /**
   * Readings under way: a caller that asks meanwhile gets the same object, for only one may be
   * remembered.
   */
  readonly #reading = new Map<string, Promise<PublishedContent>>();
  readonly #clock: Clock;
  /** What meta says after the newest step that was published. */
  #lastRevision: string;
  /** The newest one that was sent, whatever became of it. */
  #sentRevision: number;
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ redisClient, scripts, keyring, clock, epoch, revision, inventories, history }: WriterSessionDeps) {
    this.#redisClient = redisClient;
    this.#scripts = scripts;
    this.#keyring = keyring;
    this.#clock = clock;
    this.epoch = epoch;
    this.#lastRevision = revision;
    this.#sentRevision = Number(revision);
    this.inventories = inventories;
    // One of its own: work of an earlier session that has not ended yet must not write into it.
    this.#history = history.copy();
  }

  history(): PublishHistory {
    return this.#history;
  }

  /** The revision of the newest step that was published. */
  newest(): number {
    return Number(this.#lastRevision);
  }

  /**
   * Whether meta says what this session left there. `read` is called while no step is under way.
   */
  stands(read: () => Promise<{ readonly epoch: string | undefined; readonly revision: string }>): Promise<boolean> {
    return this.#inTurn(async () => {
      const { epoch, revision } = await read();
      return epoch === this.epoch && revision === this.#lastRevision;
    });
  }

  async load(ref: ProjectRef): Promise<PublishedProject> {
    const { config, revision } = await this.#publishedOf(ref);
    const data = this.#inventoryOf(ref);
    return { revision, ...(config !== undefined && { config }), ...(data !== undefined && { data }) };
  }

  async publish(config: CompiledProject, data: DataInventory | undefined): Promise<PublishResult> {
    const ref = config.project;
    const published = await this.#publishedOf(ref);
    const changed = await this.#writeAll(config, published, data);
    if (changed === 0) await this.writeData(ref, withPurgeRevision(data, this.newest()));
    return this.#resultOf(ref, { changed, revision: published.revision });
  }

  async withdraw(ref: ProjectRef, data: DataInventory | undefined): Promise<PublishResult> {
    const published = await this.#publishedOf(ref);
    if (published.fields.size === 0 && published.revision === 0) {
      this.#history.sent(keyOfProject(ref), undefined);
      this.#published.delete(keyOfProject(ref));
      await this.writeData(ref, withPurgeRevision(data, this.newest()));
      return this.#resultOf(ref, { changed: 0, revision: this.newest() });
    }
    const inventoryAt: InventoryAt = (revision) => withPurgeRevision(data, revision);
    const revision = await this.#step(ref, { config: undefined, inventoryAt }, (step) => this.#scripts.withdraw(step));
    this.#published.delete(keyOfProject(ref));
    return this.#resultOf(ref, { changed: published.fields.size, revision });
  }

  /**
   * Publishes what was published last where Redis holds nothing of it any more; where Redis went
   * back behind it, its credentials. What was revoked since goes first and in one step, so that
   * what fails after it brings nothing back. Resources and root keys stay as they came back, with
   * the data that came back with them, until they are compiled again.
   */
  async restore(ref: ProjectRef): Promise<void> {
    const key = keyOfProject(ref);
    const published = await this.#publishedOf(ref);
    const { fields, config, revision } = published;
    if (config === undefined) return;
    const data = this.#inventoryOf(ref);
    if (fields.size === 0) await this.publish(config, data);
    else if (this.#history.isAhead(key, revision)) {
      const last = this.#history.configOf(key);
      await this.#writeAll(withoutRevoked(config, last), published, data);
      await this.#writeAll(withLastCredentials(config, last), published, data);
    }
  }

  async writeData(ref: ProjectRef, data: DataInventory | undefined): Promise<void> {
    const inventory = this.#inventoryText(ref, data);
    if (inventory === unchangedInventory) return;
    try {
      await this.fenced((epoch) => this.#scripts.recordData(epoch, ref, inventory));
    } catch (error) {
      this.#forget(ref);
      throw error;
    }
    this.#remember(ref, data);
  }

  async reseal(ref: ProjectRef): Promise<number> {
    // Else what Redis brought back would be written as the newest version.
    await this.restore(ref);
    const published = await this.#publishedOf(ref);
    const { config } = published;
    if (config === undefined) return 0;
    const steps = resealsOf(config, this.#keyring(), published.fields);
    const inventoryAt: InventoryAt = () => this.#inventoryOf(ref);
    for (const step of steps) await this.#write(step, published, { config, inventoryAt });
    return sizeOf(steps);
  }

  async sealedWith(ref: ProjectRef): Promise<ReadonlySet<string>> {
    return new Set([...(await this.#publishedOf(ref)).fields.values()].map(({ kid }) => kid));
  }

  async fenced(write: (epoch: string) => Promise<PublishReply>): Promise<void> {
    requireWritten(await write(this.epoch));
  }

  #publishedOf(ref: ProjectRef): Promise<PublishedContent> {
    const key = keyOfProject(ref);
    const cached = this.#published.get(key);
    if (cached !== undefined) return Promise.resolve(cached);
    const underWay = this.#reading.get(key);
    if (underWay !== undefined) return underWay;
    const reading = this.#read(ref).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(ref: ProjectRef): Promise<PublishedContent> {
    const [read, inventory] = await Promise.all([
      readProject(this.#redisClient, this.#keyring(), ref),
      readDataInventory(this.#redisClient, ref),
    ]);
    this.#remember(ref, inventory);
    // An object that is broken now has its last good version nowhere else.
    if (read.fields.size === 0) read.config ??= this.#history.configOf(keyOfProject(ref));
    else this.#history.wasRead(keyOfProject(ref), read);
    this.#published.set(keyOfProject(ref), read);
    return read;
  }

  /** Answers with how many fields were written or removed. */
  async #writeAll(
    config: CompiledProject,
    published: PublishedContent,
    data: DataInventory | undefined,
  ): Promise<number> {
    const steps = changesOf(config, this.#keyring(), published);
    for (const step of steps) {
      // Record the data before they are served. A purge starts at the revision that withdraws the
      // last of them.
      const inventoryAt: InventoryAt = (revision) => (step.last ? withPurgeRevision(data, revision) : data);
      await this.#write(step, published, { config, inventoryAt });
    }
    published.config = config;
    return sizeOf(steps);
  }

  async #write(
    { changed, removed }: Change,
    published: PublishedContent,
    next: Next & { readonly config: CompiledProject },
  ): Promise<void> {
    const { project } = next.config;
    const { namespace, name, uid, hosts } = project;
    const ring = this.#keyring();
    const revision = await this.#step(project, next, (step) => {
      const { revision } = step;
      const values = changed.map(({ field, text, contentHash }) => {
        const sealed = seal(ring, { namespace, name, uid, field, revision }, text);
        return { field, value: writePublished({ revision, contentHash, sealed }) };
      });
      return this.#scripts.publish({ ...step, entry: writeEntry({ revision, hosts }), values, removed });
    });
    const { kid } = ring.keys[0];
    for (const { field, contentHash } of changed) published.fields.set(field, { contentHash, kid });
    for (const field of removed) published.fields.delete(field);
    published.revision = revision;
  }

  /** One step with the next revision. */
  async #step(
    ref: ProjectRef,
    { config, inventoryAt }: Next,
    run: (step: PublishStep & { readonly inventory: InventoryText }) => Promise<PublishReply>,
  ): Promise<number> {
    const key = keyOfProject(ref);
    const send = async (): Promise<number> => {
      const lastRevision = this.#lastRevision;
      // Milliseconds, so that revisions go on growing when Redis was emptied and the count began
      // again.
      const revision = Math.max(this.#sentRevision + 1, this.#clock.now());
      this.#sentRevision = revision;
      const inventory = this.#inventoryText(ref, inventoryAt(revision));
      requireWritten(await run({ ref, epoch: this.epoch, lastRevision, revision, inventory }));
      this.#lastRevision = String(revision);
      return revision;
    };
    try {
      const revision = await this.#inTurn(send);
      this.#history.written(key, config, revision);
      this.#remember(ref, inventoryAt(revision));
      return revision;
    } catch (error) {
      this.#forget(ref);
      const isUnwritten = error instanceof NotTheWriter || error instanceof StoreUnavailable;
      if (!isUnwritten) this.#history.sent(key, config);
      throw error;
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** What failed is perhaps written, perhaps not: Redis is read again before the next step. */
  #forget(ref: ProjectRef): void {
    this.#published.delete(keyOfProject(ref));
  }

  #inventoryOf(ref: ProjectRef): DataInventory | undefined {
    return this.inventories.get(keyOfProject(ref));
  }

  #inventoryText(ref: ProjectRef, data: DataInventory | undefined): InventoryText {
    // By content: runs make the same inventory with its members in different orders.
    if (isDeepStrictEqual(this.#inventoryOf(ref), data)) return unchangedInventory;
    return data === undefined ? noInventory : inventoryText(data);
  }

  #remember(ref: ProjectRef, data: DataInventory | undefined): void {
    if (data === undefined) this.inventories.delete(keyOfProject(ref));
    else this.inventories.set(keyOfProject(ref), data);
  }

  #resultOf(ref: ProjectRef, done: Omit<PublishResult, "data">): PublishResult {
    const data = this.#inventoryOf(ref);
    return data === undefined ? done : { ...done, data };
  }
}

/** Fields written or removed. */
function sizeOf(steps: readonly Change[]): number {
  return steps.reduce((sum, { changed, removed }) => sum + changed.length + removed.length, 0);
}

function requireWritten({ outcome }: PublishReply): void {
  if (outcome === "published") return;
  throw new NotTheWriter("Another publisher writes, or the configuration was emptied or lost writes");
}
