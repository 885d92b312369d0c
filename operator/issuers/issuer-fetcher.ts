// Keeps what external issuers publish, for all Projects of this process together: fetched when the
// first Project names an issuer, again when its keys have become old or a replica has met one that
// is not among them, and forgotten with the last Project. An issuer that can't be reached is tried
// again after longer and longer pauses; what it had stays.

import { backoffMs } from "../../core/backoff.ts";
import { projectOfKey } from "../../core/config/config-keys.ts";
import { betweenFetchesMs, type WantedKeys, wantedForMs } from "../../core/config/wanted-keys.ts";
import { FairQueue } from "../../core/fair-queue.ts";
import type { Monotonic, Timers } from "../../core/timers.ts";
import type { IssuerContent, IssuerSource, KnownIssuer } from "../model/issuers.ts";
import type { FetchedIssuer } from "./fetch-issuer.ts";
import { FetchFailure } from "./fetch-text.ts";

export interface IssuerFetcher {
  /** Projects that use an issuer at present. */
  readonly projectsUsing: { has(project: string): boolean };
  /** The issuers of a project (`<namespace>/<name>`) from now on, by their names there. */
  use(project: string, sources: ReadonlyMap<string, IssuerSource>): void;
  /** Can be passed on by itself, as all that compiles a Project takes it. */
  readonly lookUp: (source: IssuerSource) => KnownIssuer;
  /** Tokens have come with a key that is not among those of the issuer. */
  want(wanted: WantedKeys): void;
  /** Resolves when no issuer is waiting for its first fetch. */
  whenFetched(): Promise<void>;
  figures(): IssuerFigures;
  /** Ends the fetches under way; nothing happens afterwards. */
  stop(): void;
}

export interface IssuerFigures {
  /** How many issuers the last attempts could not fetch. */
  readonly unreachable: number;
  /**
   * Seconds since keys were fetched that no later attempt could confirm, of the issuer that has
   * waited longest; 0 = none waits.
   */
  readonly oldestFailureSeconds: number;
}

export type FetchObservation = { readonly source: IssuerSource } & (
  | { readonly kind: "fetched" }
  | { readonly kind: "failed"; readonly error: Error }
  /** It counts as unreachable from now on; or no longer. */
  | { readonly kind: "lost"; readonly failure: string; readonly keepsKeys: boolean }
  | { readonly kind: "recovered" }
);

export interface IssuerFetcherDeps {
  /** Rejects with FetchFailure, or with the signal's reason. */
  readonly fetch: (source: IssuerSource, signal: AbortSignal) => Promise<FetchedIssuer>;
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
  /** What is known of an issuer of these projects is something else now. */
  readonly onChange: (projects: Iterable<string>) => void;
  readonly observe: (observation: FetchObservation) => void;
  /**
   * Milliseconds from the beginning of a fetch in which a wanted key causes no other; a minute by
   * default.
   */
  readonly refetchAfterMs?: number;
  /**
   * Failures contain their details. Only for a program whose user can reach the issuers too, such
   * as dev mode.
   */
  readonly showsDetails?: true;
}

/** In all: for the discovery document and the key set together. */
const fetchMs = 5_000;
const late = `it did not answer within ${fetchMs / 1_000} seconds`;
const maxAtOnce = 8;
/**
 * Places are left for other namespaces, because a token with a new key waits for two seconds only.
 */
const maxOfNamespace = 4;
const retries = { firstMs: 5_000, maxMs: 300_000, jitter: 0.2 };
/**
 * Attempts that may fail in a row before an issuer whose keys are known counts as unreachable: a
 * provider that restarts is no news.
 */
const toleratedFailures = 1;

interface Entry {
  readonly source: IssuerSource;
  readonly usedSince: number;
  readonly projects: Set<string>;
  content?: IssuerContent;
  failure: string;
  failures: number;
  begunAt: number;
  fetchedAt: number;
  /** Waits for a place, or has one. */
  isUnderWay: boolean;
  stopTimer: () => void;
  /** Ends the fetch under way. */
  stopFetch: () => void;
}

export function createIssuerFetcher(deps: IssuerFetcherDeps): IssuerFetcher {
  return new Fetcher(deps);
}

class Fetcher implements IssuerFetcher {
  readonly projectsUsing: IssuerFetcher["projectsUsing"];
  readonly #deps: IssuerFetcherDeps;
  readonly #entries = new Map<string, Entry>();
  /** By project, the key of each of its issuers' entries by name. */
  readonly #uses = new Map<string, ReadonlyMap<string, string>>();
  /** In the namespaces of the Projects that use them. */
  readonly #waiting = new FairQueue<Entry>();
  readonly #underWay = new Set<Entry>();
  readonly #stopped = new AbortController();
  #onFetched: (() => void)[] = [];

  constructor(deps: IssuerFetcherDeps) {
    this.#deps = deps;
    this.projectsUsing = this.#uses;
  }

  use(project: string, sources: ReadonlyMap<string, IssuerSource>): void {
    const before = this.#uses.get(project);
    const now = new Map([...sources].map(([name, source]) => [name, keyOf(source)]));
    if (now.size > 0) this.#uses.set(project, now);
    else this.#uses.delete(project);
    for (const source of sources.values()) this.#join(source, project);
    const kept = new Set(now.values());
    for (const key of before?.values() ?? []) if (!kept.has(key)) this.#leave(key, project);
  }

  readonly lookUp = (source: IssuerSource): KnownIssuer => {
    const entry = this.#entries.get(keyOf(source));
    return entry === undefined ? { state: "pending" } : this.#known(entry);
  };

  want({ project, issuer }: WantedKeys): void {
    const entry = this.#entries.get(this.#uses.get(project)?.get(issuer) ?? "");
    if (entry === undefined || entry.isUnderWay) return;
    const { timers, monotonic, refetchAfterMs = betweenFetchesMs } = this.#deps;
    const wait = refetchAfterMs - (monotonic() - entry.begunAt);
    // Dropped: once this minute is over, a replica that still meets such tokens wants their keys
    // again. Near its end the fetch is put off instead, because by then the replica no longer lists
    // the want, and lists no other until its own minute is over.
    if (wait > wantedForMs) return;
    entry.stopTimer();
    entry.stopTimer = timers.after(Math.max(0, wait), () => this.#enqueue(entry));
  }

  whenFetched(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFetched.push(resolve);
      this.#checkFetched();
    });
  }

  figures(): IssuerFigures {
    const failed = [...this.#entries.values()].filter((entry) => failureOf(entry) !== undefined);
    const now = this.#deps.monotonic();
    const ages = failed.map(
      ({ content, fetchedAt, usedSince }) => now - (content === undefined ? usedSince : fetchedAt),
    );
    return { unreachable: failed.length, oldestFailureSeconds: Math.max(0, ...ages) / 1_000 };
  }

  stop(): void {
    this.#stopped.abort(new Error("issuers are not fetched any more"));
    for (const { stopTimer } of this.#entries.values()) stopTimer();
    this.#entries.clear();
    this.#uses.clear();
    this.#waiting.clear();
    this.#checkFetched();
  }

  #join(source: IssuerSource, project: string): void {
    const key = keyOf(source);
    const found = this.#entries.get(key);
    if (found !== undefined) {
      found.projects.add(project);
      if (this.#waiting.has(found)) this.#waiting.add(found, projectOfKey(project).namespace);
      return;
    }
    const entry: Entry = {
      source,
      usedSince: this.#deps.monotonic(),
      projects: new Set([project]),
      failure: "",
      failures: 0,
      begunAt: Number.NEGATIVE_INFINITY,
      fetchedAt: Number.NEGATIVE_INFINITY,
      isUnderWay: false,
      stopTimer: () => undefined,
      stopFetch: () => undefined,
    };
    this.#entries.set(key, entry);
    this.#enqueue(entry);
  }

  #leave(key: string, project: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.projects.delete(project);
    if (this.#waiting.remove(entry)) this.#wait(entry);
    if (entry.projects.size > 0) return;
    entry.stopTimer();
    this.#entries.delete(key);
    entry.stopFetch();
    this.#checkFetched();
  }

  #isUsed(entry: Entry): boolean {
    return this.#entries.get(keyOf(entry.source)) === entry;
  }

  #enqueue(entry: Entry): void {
    if (entry.isUnderWay || this.#stopped.signal.aborted) return;
    entry.stopTimer();
    entry.isUnderWay = true;
    this.#wait(entry);
    this.#startWaiting();
  }

  #wait(entry: Entry): void {
    for (const namespace of namespacesOf(entry)) this.#waiting.add(entry, namespace);
  }

  #mayHavePlace(namespace: string): boolean {
    const own = [...this.#underWay].filter((entry) => namespacesOf(entry).has(namespace));
    return own.length < maxOfNamespace;
  }

  #startWaiting(): void {
    while (this.#underWay.size < maxAtOnce) {
      const entry = this.#waiting.shift((namespace) => this.#mayHavePlace(namespace));
      if (entry === undefined) return;
      this.#underWay.add(entry);
      void this.#fetch(entry).finally(() => {
        this.#underWay.delete(entry);
        this.#startWaiting();
        this.#checkFetched();
      });
    }
  }

  async #fetch(entry: Entry): Promise<void> {
    const { fetch, timers, monotonic } = this.#deps;
    entry.begunAt = monotonic();
    const over = new AbortController();
    const stop = (): void => over.abort(this.#stopped.signal.reason);
    this.#stopped.signal.addEventListener("abort", stop, { once: true });
    entry.stopFetch = () => over.abort(new Error("no Project names it any more"));
    const stopTimer = timers.after(fetchMs, () => over.abort(new FetchFailure(late)));
    try {
      // Whatever a server does, its place is free in time.
      const fetching = fetch(entry.source, over.signal);
      const { keepForMs, fault, ...content } = await Promise.race([fetching, endOf(over.signal)]);
      const againMs = fault === undefined ? keepForMs : this.#pauseAfter(entry.failures + 1);
      this.#ended(entry, againMs, () => this.#succeeded(entry, content, fault));
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      this.#ended(entry, this.#pauseAfter(entry.failures + 1), () => this.#failed(entry, failure));
    } finally {
      stopTimer();
      this.#stopped.signal.removeEventListener("abort", stop);
    }
  }

  #ended(entry: Entry, againMs: number, take: () => void): void {
    entry.isUnderWay = false;
    if (!this.#isUsed(entry)) return;
    const before = JSON.stringify(this.#known(entry));
    const hadFailed = failureOf(entry) !== undefined;
    take();
    entry.stopTimer = this.#deps.timers.after(againMs, () => this.#enqueue(entry));
    const failure = failureOf(entry);
    if (failure !== undefined && !hadFailed) {
      const keepsKeys = entry.content !== undefined && entry.content.keys.length > 0;
      this.#deps.observe({ kind: "lost", source: entry.source, failure, keepsKeys });
    }
    if (failure === undefined && hadFailed) this.#deps.observe({ kind: "recovered", source: entry.source });
    if (JSON.stringify(this.#known(entry)) !== before) this.#deps.onChange([...entry.projects]);
  }

  #succeeded(entry: Entry, content: IssuerContent, fault: string | undefined): void {
    entry.content = content;
    entry.fetchedAt = entry.begunAt;
    if (fault === undefined) {
      entry.failures = 0;
      this.#deps.observe({ kind: "fetched", source: entry.source });
      return;
    }
    // No provider that restarts: it is reported at once.
    entry.failures = Math.max(entry.failures, toleratedFailures);
    this.#failed(entry, new FetchFailure(fault));
  }

  #failed(entry: Entry, error: Error): void {
    entry.failures += 1;
    // Whatever else goes wrong is described in the log only.
    entry.failure = error instanceof FetchFailure ? this.#clauseOf(error) : "it could not be fetched";
    this.#deps.observe({ kind: "failed", source: entry.source, error });
  }

  #clauseOf({ message, detail }: FetchFailure): string {
    return this.#deps.showsDetails === true && detail !== undefined ? `${message} (${detail})` : message;
  }

  #pauseAfter(failures: number): number {
    return backoffMs(retries, failures, this.#deps.random);
  }

  #known(entry: Entry): KnownIssuer {
    const failure = failureOf(entry);
    if (entry.content !== undefined) {
      return { state: "known", content: entry.content, ...(failure !== undefined && { failure }) };
    }
    if (failure !== undefined) return { state: "unreachable", failure };
    return { state: "pending" };
  }

  #checkFetched(): void {
    const isWaiting = [...this.#entries.values()].some((entry) => entry.content === undefined && entry.failures === 0);
    if (isWaiting) return;
    for (const resolve of this.#onFetched) resolve();
    this.#onFetched = [];
  }
}

function namespacesOf({ projects }: Entry): ReadonlySet<string> {
  return new Set([...projects].map((project) => projectOfKey(project).namespace));
}

/** Rejects with the signal's reason once it is aborted. */
function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

/** Why it counts as unreachable; undefined when it does not. */
function failureOf({ content, failure, failures }: Entry): string | undefined {
  const tolerated = content === undefined ? 0 : toleratedFailures;
  return failures > tolerated ? failure : undefined;
}

function keyOf(source: IssuerSource): string {
  return source.kind === "cluster" ? "cluster" : JSON.stringify([source.url, source.certificateAuthority ?? null]);
}
