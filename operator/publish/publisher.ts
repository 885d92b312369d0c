// Writes compiled projects to Redis, field by field and only what changed, sealed, with one
// revision per step; beside them what is known of stored data. Refuses with NotTheWriter once
// another publisher took over, and with RedisRefused a Redis of another installation or of a newer
// version; the store's errors pass through. After OutcomeUnknown it has to begin again, which finds
// out what holds.

import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { configKeys, keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import { configFormat, readFormat } from "../../core/config/fields.ts";
import { type Keyring, ringMarkOf } from "../../core/config/keyring.ts";
import { readEntry } from "../../core/config/published-value.ts";
import { storeFields } from "../../core/config/store-fields.ts";
import type { CompiledProject, ProjectRef } from "../../core/config/types.ts";
import { OutcomeUnknown } from "../../core/errors/store-errors.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf, listOf, numberOf, optionalText } from "../../core/redis/reply.ts";
import type { DataInventory } from "../model/data-inventory.ts";
import { readDataInventories } from "./data-inventories.ts";
import { type PublishedEntry, PublishHistory } from "./publish-history.ts";
import { createPublishScripts, type FoundStore, type PublishReply, type PublishScripts } from "./publish-scripts.ts";
import { NotTheWriter, RedisContested, ReplicasOutdated, WrittenByNewerVersion } from "./refusals.ts";
import { liveReplicas } from "./replicas.ts";
import { expectedStore, type StoreIdentity } from "./store-identity.ts";
import { type PublishedProject, type PublishResult, WriterSession } from "./writer-session.ts";

export interface BeginOptions {
  /** Whether this process may write: asked before the epoch is taken. */
  readonly confirm?: () => Promise<boolean>;
  /**
   * Takes over the Redis of another installation, only at the first begin: otherwise two that may
   * adopt would take it from each other for ever.
   */
  readonly takeOver?: boolean;
}

export interface Publisher {
  /**
   * Name of the loss of stored data that was found and is not accepted for all Projects; undefined
   * = none.
   */
  dataLoss(): string | undefined;
  /**
   * Whether the last beginning found other stored data than before, or none, and took them as they
   * are.
   */
  hasOtherStore(): boolean;
  /** From now on what Redis holds are the stored data. */
  acceptLoss(): Promise<void>;
  /**
   * Takes over from the writer before. Everything else throws NotTheWriter until it was called.
   * Answers with why the Redis would have been refused, where it was taken over all the same.
   */
  begin(options?: BeginOptions): Promise<RedisContested | undefined>;
  /** Whether this publisher is the writer, for all that it knows. */
  isWriter(): boolean;
  /**
   * One look at Redis, whether this publisher still is the writer and all that it wrote is there.
   */
  verify(): Promise<"writer" | "lost">;
  /** What is published of a project; from memory while this publisher is the writer. */
  load(ref: ProjectRef): Promise<PublishedProject>;
  /** `data` = what to record of stored data, in the same step; undefined = nothing. */
  publish(config: CompiledProject, data?: DataInventory): Promise<PublishResult>;
  /** Withdraws a project's configuration and leaves `data` as the inventory. Stored data stay. */
  withdraw(ref: ProjectRef, data?: DataInventory): Promise<PublishResult>;
  /** Records what is known of stored data, alone. */
  writeData(ref: ProjectRef, data: DataInventory | undefined): Promise<void>;
  /** Projects of which there may be stored data, published or not. */
  dataInventories(): ReadonlyMap<string, DataInventory>;
  /**
   * Publishes again what this process had published of a project when Redis lost it all, and its
   * credentials when Redis went back behind them. It uses only memory, so that it succeeds even
   * when the Project can't be compiled.
   */
  restore(ref: ProjectRef): Promise<void>;
  /**
   * Keys of the Projects that Redis lost steps of, where `published` is what it holds: withdrawn
   * ones that are back come first. None where it holds nothing.
   */
  lostFrom(published: readonly PublishedEntry[]): readonly string[];
  /**
   * Whether replicas may serve what Redis lacks of it: it was emptied, not all is back, and of this
   * project nothing is.
   */
  lacks(ref: ProjectRef): Promise<boolean>;
  /**
   * Says that every project has been published. Until then, after Redis was emptied, replicas add
   * what they find and take nothing for gone, and new replicas are not ready.
   */
  complete(): Promise<void>;
  /** Projects that have configuration in Redis. */
  published(): Promise<readonly PublishedEntry[]>;
  /** The revision of the newest publish of all. */
  newest(): number;
  /** From now on this ring seals. What is sealed with another key of it stays readable. */
  setKeyring(keyring: Keyring): void;
  /**
   * Seals again what another key than the ring's first has sealed; answers with how many fields.
   */
  reseal(ref: ProjectRef): Promise<number>;
  /** Key ids that the fields of the project are sealed with. */
  sealedWith(ref: ProjectRef): Promise<ReadonlySet<string>>;
  /** For writes of other stages under the same fence: the epoch. Throws NotTheWriter. */
  fenced(write: (epoch: string) => Promise<PublishReply>): Promise<void>;
}

export interface PublisherDeps {
  /**
   * Names the installation that it writes for; see installationId. Another one's Redis is refused.
   */
  readonly owner: string;
  readonly redisClient: RedisClient;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly store: StoreIdentity;
  /** Format of what it writes; `configFormat` when absent. Tests set it. */
  readonly format?: number;
}

export function createPublisher(deps: PublisherDeps): Publisher {
  return new RedisPublisher(deps);
}

/** What Redis says of its owner and its writer. */
interface RedisState {
  /** Undefined = no installation. */
  readonly owner: string | undefined;
  /** Names the session that writes, and is never used again. Empty = none. */
  readonly epoch: string;
  /** Undefined = nothing was written there. */
  readonly format: number | undefined;
}

class RedisPublisher implements Publisher {
  readonly #deps: PublisherDeps;
  readonly #scripts: PublishScripts;
  #hasBegun = false;
  #keyring: Keyring;
  #session: WriterSession | undefined;
  #history = new PublishHistory();
  #store: FoundStore = { id: "", isOther: false };

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
    this.#keyring = deps.keyring;
    this.#scripts = createPublishScripts(deps.redisClient);
  }

  async begin({ confirm, takeOver = false }: BeginOptions = {}): Promise<RedisContested | undefined> {
    const { redisClient, clock, owner, format = configFormat } = this.#deps;
    if (this.#session !== undefined) this.#end(this.#session);
    // Read before the Lease is checked: a process that is paused after that check takes nothing
    // from one that began meanwhile.
    const found = await this.#readState();
    const isOurs = found.owner === undefined || found.owner === owner;
    const refusal = isOurs ? undefined : new RedisContested(found.owner);
    const mayTake = takeOver && !this.#hasBegun;
    if (refusal !== undefined && !mayTake) throw refusal;
    await this.#requireFormat(found.format, format);
    if (confirm !== undefined && !(await confirm())) {
      throw new NotTheWriter("This process may not write any more");
    }
    const { store } = this.#deps;
    const expected = await expectedStore(store, { accepts: mayTake });
    const epoch = randomUUID();
    const begun = await this.#scripts.begin({
      owner,
      seen: found.epoch,
      epoch,
      datasetId: randomUUID(),
      format,
      takeOver: refusal !== undefined,
      ringMark: ringMarkOf(this.#keyring),
      store: expected,
    });
    if (begun.outcome === "overtaken") throw new NotTheWriter("Another publisher has begun at the same time");
    if (begun.outcome === "foreign") throw new RedisContested(found.owner ?? "");
    await this.#keepStore(begun.store, expected.id);
    this.#hasBegun = true;
    this.#session = new WriterSession({
      redisClient,
      scripts: this.#scripts,
      keyring: () => this.#keyring,
      clock,
      epoch,
      revision: begun.revision,
      inventories: await readDataInventories(redisClient),
      history: this.#history,
    });
    return refusal;
  }

  dataLoss(): string | undefined {
    return this.#store.loss;
  }

  hasOtherStore(): boolean {
    return this.#store.isOther;
  }

  async acceptLoss(): Promise<void> {
    const { id, loss } = this.#store;
    // Remembered first: what ends in between finds the loss under another name, and a person
    // accepts that one.
    if (loss !== undefined) await this.#deps.store.keepAccepted(loss);
    await this.fenced((epoch) => this.#scripts.acceptLoss(epoch, id));
    this.#store = { id, isOther: true };
  }

  isWriter(): boolean {
    return this.#session !== undefined;
  }

  async verify(): Promise<"writer" | "lost"> {
    const session = this.#session;
    if (session === undefined) return "lost";
    const { meta } = configKeys;
    let foundLoss: string | undefined;
    const stands = await session.stands(async () => {
      const fields = ["epoch", "revision", storeFields.loss];
      const found = listOf(await this.#deps.redisClient.read(meta, "HMGET", meta, ...fields));
      const [epoch, revision = "0", loss] = found.map(optionalText);
      foundLoss = loss;
      return { epoch, revision };
    });
    // The acceptance of a loss has no revision: a Redis that went back behind it may say nothing
    // else that is older.
    const isAccepted = foundLoss === this.#store.loss;
    if (stands && isAccepted) return "writer";
    this.#end(session);
    return "lost";
  }

  load(ref: ProjectRef): Promise<PublishedProject> {
    return this.#inSession((session) => session.load(ref));
  }

  publish(config: CompiledProject, data?: DataInventory): Promise<PublishResult> {
    return this.#inSession((session) => session.publish(config, data));
  }

  withdraw(ref: ProjectRef, data?: DataInventory): Promise<PublishResult> {
    return this.#inSession((session) => session.withdraw(ref, data));
  }

  writeData(ref: ProjectRef, data: DataInventory | undefined): Promise<void> {
    return this.#inSession((session) => session.writeData(ref, data));
  }

  dataInventories(): ReadonlyMap<string, DataInventory> {
    return this.#session?.inventories ?? new Map();
  }

  restore(ref: ProjectRef): Promise<void> {
    return this.#inSession((session) => session.restore(ref));
  }

  lostFrom(published: readonly PublishedEntry[]): readonly string[] {
    return (this.#session?.history() ?? this.#history).lostFrom(published);
  }

  async lacks(ref: ProjectRef): Promise<boolean> {
    const { meta, projects } = configKeys;
    const { redisClient } = this.#deps;
    const [complete, entry] = await Promise.all([
      redisClient.read(meta, "HGET", meta, "complete"),
      redisClient.read(projects, "HEXISTS", projects, keyOfProject(ref)),
    ]);
    return optionalText(complete) !== "1" && numberOf(entry) === 0;
  }

  complete(): Promise<void> {
    return this.fenced((epoch) => this.#scripts.complete(epoch));
  }

  async published(): Promise<readonly PublishedEntry[]> {
    const { projects } = configKeys;
    const entries = fieldsOf(await this.#deps.redisClient.read(projects, "HGETALL", projects));
    return [...entries].map(([key, text]) => {
      const { hosts, revision } = readEntry(text) ?? { hosts: [], revision: 0 };
      return { ...projectOfKey(key), hosts, revision };
    });
  }

  newest(): number {
    return this.#session?.newest() ?? 0;
  }

  setKeyring(keyring: Keyring): void {
    this.#keyring = keyring;
  }

  reseal(ref: ProjectRef): Promise<number> {
    return this.#inSession((session) => session.reseal(ref));
  }

  sealedWith(ref: ProjectRef): Promise<ReadonlySet<string>> {
    return this.#inSession((session) => session.sealedWith(ref));
  }

  fenced(write: (epoch: string) => Promise<PublishReply>): Promise<void> {
    return this.#inSession((session) => session.fenced(write));
  }

  async #readState(): Promise<RedisState> {
    const { meta } = configKeys;
    const found = listOf(await this.#deps.redisClient.read(meta, "HMGET", meta, "epoch", "owner", "format"));
    const [epoch = "", owner, format] = found.map(optionalText);
    return { epoch, owner, format: readFormat(format) };
  }

  async #requireFormat(found: number | undefined, format: number): Promise<void> {
    if (found !== undefined && found > format) throw new WrittenByNewerVersion(found, format);
    // An emptied Redis is filled at once: replicas of an earlier version keep what they have, and
    // must not be waited for, since none of the new version becomes ready before that.
    if (found === undefined || found === format) return;
    const outdated = (await liveReplicas(this.#deps.redisClient)).filter((replica) => replica.format < format);
    if (outdated.length > 0) throw new ReplicasOutdated(outdated.map(({ replica }) => replica));
  }

  /**
   * In Redis first, and only then remembered: what ends in between is found there by the next
   * beginning.
   */
  async #keepStore(found: FoundStore, expected: string | undefined): Promise<void> {
    if (found.id !== (expected ?? "")) await this.#deps.store.keep(found.id);
    this.#store = found;
  }

  /**
   * The whole call uses one session, because what was read in an earlier session may be outdated.
   */
  async #inSession<T>(work: (session: WriterSession) => Promise<T>): Promise<T> {
    const session = this.#session;
    if (session === undefined) throw new NotTheWriter("The publisher has not begun");
    try {
      return await work(session);
    } catch (error) {
      // What was sent and not answered may take place later, under what was read meanwhile; never
      // in another session.
      if (error instanceof NotTheWriter || error instanceof OutcomeUnknown) this.#end(session);
      throw error;
    }
  }

  /** Ends this session, unless another one has begun meanwhile. */
  #end(session: WriterSession): void {
    if (this.#session !== session) return;
    this.#history = session.history();
    this.#session = undefined;
  }
}
