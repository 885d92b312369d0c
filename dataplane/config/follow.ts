// Follows the published configuration. The stream of changes is a hint and makes a change live
// immediately; the revisions are compared every five seconds and after every interruption. What is
// missing in Redis means "no information", never "empty": the last good configuration is still
// served.

import { isDeepStrictEqual } from "node:util";
import { configKeys } from "../../core/config/config-keys.ts";
import { ringMarkField } from "../../core/config/keyring.ts";
import { type ProjectEntry, readEntry } from "../../core/config/published-value.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf, listOf, optionalText } from "../../core/redis/reply.ts";
import { StreamFollower } from "../../core/redis/stream-follower.ts";
import type { ConfigFit, ConfigMarks } from "./config-fit.ts";

/** What the follower reports; each call is awaited before the revision counts as applied. */
export interface FollowListener {
  /**
   * What Redis says of the configuration. A replica that can't read it loads nothing at its start.
   * One that has started keeps what it has, and applies nothing that a newer version publishes.
   */
  onMarks(marks: ConfigMarks): Promise<ConfigFit>;
  /** These exist, and no others when `complete`. First, and again when hints may be missed. */
  onIndex(index: ReadonlyMap<string, ProjectEntry>, complete: boolean): Promise<void>;
  onChange(project: string, entry: ProjectEntry | undefined, fields: readonly string[]): Promise<void>;
  /** Everything up to this revision has been reported. */
  onApplied(revision: number): void;
  /** The configuration was known to be current at this moment. */
  onCurrent(): void;
}

interface Head {
  readonly revision: number;
  readonly datasetId: string;
  readonly complete: boolean;
}

interface Found extends Head {
  readonly marks: ConfigMarks;
}

export class Follower {
  readonly #commands: RedisClient;
  readonly #listener: FollowListener;
  readonly #following: StreamFollower;
  #applied: Head | undefined;
  #hasBegun = false;
  #fit: ConfigFit = "fits";

  /** `waiting` is a connection of its own: it blocks on the stream. */
  constructor(commands: RedisClient, waiting: RedisClient, listener: FollowListener, rereadMs?: number) {
    this.#commands = commands;
    this.#listener = listener;
    this.#following = new StreamFollower({
      commands,
      waiting,
      stream: configKeys.changes,
      rereadMs,
      resync: (anew) => this.#compare(anew),
      onHint: (hint) => this.#applyHint(hint),
    });
  }

  /** Runs until it is stopped; no failure ends it. */
  run(): Promise<void> {
    return this.#following.run();
  }

  stop(): void {
    this.#following.stop();
  }

  async #compare(anew: boolean): Promise<void> {
    if (anew) this.#applied = undefined;
    const found = await this.#head();
    // Emptied, or never written: the operator will write it again, and until then everything stays
    // as it is.
    if (found === undefined) return;
    const { marks, ...head } = found;
    this.#fit = await this.#listener.onMarks(marks);
    if (this.#fit === "newer_format" || (this.#fit !== "fits" && !this.#hasBegun)) return;
    this.#hasBegun = true;
    if (!isDeepStrictEqual(head, this.#applied)) {
      const index = await this.#index();
      if (await this.#wasEmptied(head)) return;
      await this.#listener.onIndex(index, head.complete);
      this.#apply(head);
    }
    this.#listener.onCurrent();
  }

  async #applyHint(hint: ReadonlyMap<string, string>): Promise<void> {
    const project = hint.get("project");
    // Everything is published now. Only the entire index shows that, and what a newer version
    // publishes is not applied.
    if (project === undefined || this.#fit === "newer_format") return this.#compare(false);
    const revision = Number(hint.get("revision"));
    if (this.#isGap(revision, Number(hint.get("after")))) return this.#compare(true);
    const fields = JSON.parse(hint.get("fields") ?? "[]") as readonly string[];
    const { projects } = configKeys;
    const text = optionalText(await this.#commands.read(projects, "HGET", projects, project));
    if (text === undefined && (await this.#wasEmptied(this.#applied))) return this.#compare(true);
    const entry = text === undefined ? undefined : readEntry(text);
    // With this hint's revision, not the newest: later hints name the fields that changed since.
    await this.#listener.onChange(project, entry && { ...entry, revision }, fields);
    if (this.#applied && revision > this.#applied.revision) this.#apply({ ...this.#applied, revision });
  }

  /**
   * Whether hints before this one are gone: the stream was trimmed faster than it was read. Nobody
   * knows what they named, so this hint must not be applied alone.
   */
  #isGap(revision: number, after: number): boolean {
    if (this.#applied === undefined) return false;
    return revision > this.#applied.revision && after !== this.#applied.revision;
  }

  /**
   * Whether Redis has lost the data set that `head` was read from. Read after the projects: a
   * missing project was removed by the operator only if that data set is still there.
   */
  async #wasEmptied(head: Head | undefined): Promise<boolean> {
    const now = await this.#head();
    return now === undefined || now.datasetId !== head?.datasetId;
  }

  #apply(head: Head): void {
    this.#applied = head;
    this.#listener.onApplied(head.revision);
  }

  async #head(): Promise<Found | undefined> {
    const { meta } = configKeys;
    const fields = ["revision", "dataset_id", "complete", ringMarkField, "format"];
    const reply = listOf(await this.#commands.read(meta, "HMGET", meta, ...fields));
    const [revision, datasetId, complete, ringMark, format] = reply.map(optionalText);
    // Complete and without a revision: a fleet that has no project yet.
    if (revision === undefined && complete === undefined) return undefined;
    const head = { revision: Number(revision ?? 0), datasetId: datasetId ?? "", complete: complete === "1" };
    return { ...head, marks: { ringMark, format } };
  }

  async #index(): Promise<ReadonlyMap<string, ProjectEntry>> {
    const { projects } = configKeys;
    const texts = fieldsOf(await this.#commands.read(projects, "HGETALL", projects));
    const index = new Map<string, ProjectEntry>();
    for (const [name, text] of texts) {
      const entry = readEntry(text);
      if (entry) index.set(name, entry);
    }
    return index;
  }
}
