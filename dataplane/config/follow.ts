// Follows the published configuration: the stream of changes is a hint and makes a change live at once, the revisions are the
// truth and are compared every five seconds and after every interruption. What is missing in Redis means "no information",
// never "empty": the last good configuration goes on serving.

import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { configKeys } from "../../core/config/config-keys.ts";
import { type ProjectEntry, readEntry } from "../../core/config/published-value.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { fieldsOf, listOf, optionalText, textOf, textsOf } from "../../core/redis/reply.ts";

/** What the follower tells of; each call is awaited before the revision counts as applied. */
export interface FollowListener {
  /**
   * These projects exist, and no others when `complete`. Comes first, and again whenever hints may have been missed.
   */
  onIndex(index: ReadonlyMap<string, ProjectEntry>, complete: boolean): Promise<void>;
  onChange(project: string, entry: ProjectEntry | undefined, fields: readonly string[]): Promise<void>;
  /** Everything up to this revision has been told. */
  onApplied(revision: number): void;
  /** The configuration was known to be current at this moment. */
  onCurrent(): void;
}

export const compareMilliseconds = 5_000;
const pauseAfterFailure = 250;
const entriesPerRead = 1_000;

interface Head {
  readonly revision: number;
  readonly instance: string;
  readonly complete: boolean;
}

export class Follower {
  readonly #commands: Gateway;
  readonly #waiting: Gateway;
  readonly #listener: FollowListener;
  readonly #stopping = new AbortController();
  #position = "0-0";
  #applied: Head | undefined;
  #comparedAt = 0;

  /** `waiting` is a connection of its own: it blocks on the stream. */
  constructor(commands: Gateway, waiting: Gateway, listener: FollowListener) {
    this.#commands = commands;
    this.#waiting = waiting;
    this.#listener = listener;
  }

  /** Runs until it is stopped; no failure ends it. */
  async run(): Promise<void> {
    let interrupted = true;
    while (!this.#stopping.signal.aborted) {
      try {
        if (interrupted) await this.#begin();
        interrupted = false;
        const due = compareMilliseconds - (performance.now() - this.#comparedAt);
        if (due <= 0) await this.#compare();
        else await this.#readStream(due);
      } catch {
        // Redis is away, or answered nonsense: look at everything again once it answers.
        interrupted = true;
        await sleep(pauseAfterFailure, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      }
    }
  }

  stop(): void {
    this.#stopping.abort();
    this.#waiting.disconnect();
  }

  /** Notes the stream's end before it reads the index, so that nothing can fall between the two. */
  async #begin(): Promise<void> {
    const { changes } = configKeys;
    const [last] = listOf(await this.#commands.read(changes, "XREVRANGE", changes, "+", "-", "COUNT", 1));
    this.#position = last === undefined ? "0-0" : textOf(listOf(last)[0]);
    this.#applied = undefined;
    await this.#compare();
  }

  async #compare(): Promise<void> {
    const head = await this.#head();
    this.#comparedAt = performance.now();
    // Emptied, or never written: the operator will write it anew, until then everything stays as it is.
    if (head === undefined) return;
    if (!isDeepStrictEqual(head, this.#applied)) {
      await this.#listener.onIndex(await this.#index(), head.complete);
      this.#apply(head);
    }
    this.#listener.onCurrent();
  }

  async #readStream(milliseconds: number): Promise<void> {
    const { changes } = configKeys;
    const wait = Math.max(1, Math.ceil(milliseconds));
    const args = ["COUNT", entriesPerRead, "BLOCK", wait, "STREAMS", changes, this.#position];
    const reply = await this.#waiting.read(changes, "XREAD", ...args);
    if (reply === null) return;
    for (const entry of listOf(listOf(listOf(reply)[0])[1])) {
      const [position, fields] = listOf(entry);
      await this.#tell(fieldsOf(fields));
      this.#position = textOf(position);
    }
  }

  async #tell(hint: ReadonlyMap<string, string>): Promise<void> {
    const project = hint.get("project");
    // That everything is published now, which only the whole index shows.
    if (project === undefined) return this.#compare();
    const revision = Number(hint.get("revision"));
    const fields = JSON.parse(hint.get("fields") ?? "[]") as readonly string[];
    const { projects } = configKeys;
    const text = optionalText(await this.#commands.read(projects, "HGET", projects, project));
    const entry = text === undefined ? undefined : readEntry(text);
    // With this hint's revision, not the newest: later hints name the fields that changed since.
    await this.#listener.onChange(project, entry && { ...entry, revision }, fields);
    if (this.#applied && revision > this.#applied.revision) this.#apply({ ...this.#applied, revision });
  }

  #apply(head: Head): void {
    this.#applied = head;
    this.#listener.onApplied(head.revision);
  }

  async #head(): Promise<Head | undefined> {
    const { meta } = configKeys;
    const reply = listOf(await this.#commands.read(meta, "HMGET", meta, "revision", "instance", "complete"));
    const [revision, instance, complete] = reply.map(optionalText);
    // Complete and without a revision: a fleet that has no project yet.
    if (revision === undefined && complete === undefined) return undefined;
    return { revision: Number(revision ?? 0), instance: instance ?? "", complete: complete === "1" };
  }

  async #index(): Promise<ReadonlyMap<string, ProjectEntry>> {
    const { projects } = configKeys;
    const texts = textsOf(await this.#commands.read(projects, "HGETALL", projects));
    const index = new Map<string, ProjectEntry>();
    for (let at = 0; at + 1 < texts.length; at += 2) {
      const entry = readEntry(texts[at + 1] ?? "");
      if (entry) index.set(texts[at] ?? "", entry);
    }
    return index;
  }
}
