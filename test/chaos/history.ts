// What happened in a run, in one order of time: every operation with what it was answered, every
// probe, and what was broken when. A write stands in the history from the moment that it is sent;
// until its answer is there, nobody knows its outcome.

/** `unknown` = it may have taken place once, or not at all. */
export type Outcome = "done" | "refused" | "unknown";

/** Milliseconds of one monotonic clock. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** One writer sets a cell to numbers that are never used twice; null = removed. */
export interface Write extends Span {
  readonly kind: "write";
  /** `object:…` or `register:…` */
  readonly cell: string;
  readonly value: number | null;
  readonly outcome: Outcome;
}

/** A value that was read; null = nothing is there. */
export interface Read extends Span {
  readonly kind: "read";
  readonly cell: string;
  readonly value: number | null;
}

/** One writer adds numbers, each larger than those before. */
export interface Append extends Span {
  readonly kind: "append";
  readonly list: string;
  readonly value: number;
  readonly outcome: Outcome;
}

export interface ListRead extends Span {
  readonly kind: "list";
  readonly list: string;
  readonly values: readonly number[];
}

/** A POST with an Idempotency-Key that was sent once more, and acknowledged. */
export interface Repeat extends Span {
  readonly kind: "repeat";
  readonly request: string;
  /** What came of it before: `unknown` when nobody knows of one of the tries. */
  readonly before: Outcome;
  /** Whether the answer says that it is a repetition's. */
  readonly replayed: boolean;
  /** Of one that was acknowledged before: when, and whether it was answered as then. */
  readonly acknowledged?: number;
  readonly same?: boolean;
}

/** Pages one after the other, each at the offset that the ones before had reached. */
export interface Walk extends Span {
  readonly kind: "walk";
  readonly order: string;
  /** Objects in front that nobody moves. */
  readonly expected: readonly string[];
  readonly found: readonly string[];
}

/**
 * A request with a credential: whether it was let in. Refused for want of a store is neither, and
 * not written down.
 */
export interface Access extends Span {
  readonly kind: "access";
  readonly credential: string;
  readonly replica: string;
  readonly admitted: boolean;
}

export interface Revoked extends Span {
  readonly kind: "revoked";
  readonly credential: string;
}

export interface Probe {
  readonly kind: "probe";
  readonly replica: string;
  readonly at: number;
  /** Undefined when nobody answered. */
  readonly ready: boolean | undefined;
}

export interface Answered extends Span {
  readonly kind: "answer";
  readonly replica: string;
  readonly writes: boolean;
  /** 0 without an answer. */
  readonly status: number;
  readonly code: string | undefined;
}

/** What a limit let through or refused: it adds so much a second, up to its burst. */
export interface Limited extends Span {
  readonly kind: "limited";
  readonly limit: string;
  readonly perSecond: number;
  readonly burst: number;
  /**
   * While Redis refuses writes nothing can be counted: then each replica counts by itself, or
   * nothing is let through.
   */
  readonly uncounted: "each replica" | "nothing";
  readonly passed: boolean;
  /** Seconds; 0 when nothing was said. */
  readonly retryAfter: number;
}

/** While Redis refused writes, and whoever asked was told so. */
export interface Refusing extends Span {
  readonly kind: "refusing";
  /** Each of which counts by itself what it can. */
  readonly replicas: number;
}

/** An object that was made: who owns it. */
export interface Made {
  readonly kind: "made";
  readonly id: string;
  readonly owner: string;
}

/** What a subscriber is told of an object, or of the one value that it follows. */
export interface Told {
  readonly kind: "told";
  readonly subscriber: string;
  /** Whose objects it may be told of; absent = all. */
  readonly sees?: string;
  /** Counts its connections. */
  readonly connection: number;
  readonly event: "put" | "delete";
  readonly id: string;
  /** Of objects whose writers count: grows with each write. */
  readonly version?: number;
  readonly at: number;
}

/** A subscriber is told to list again. */
export interface Reset {
  readonly kind: "reset";
  readonly subscriber: string;
  readonly reason: string;
  /** Whether the logs are so short that positions get too old. */
  readonly isTrimmed: boolean;
  readonly at: number;
}

/** When nobody writes any more: what a subscriber's state has other than a list of everything. */
export interface Compared extends Span {
  readonly kind: "compared";
  readonly subscriber: string;
  readonly differences: readonly string[];
}

/** What was broken, or mended. */
export interface Fault {
  readonly kind: "fault";
  readonly at: number;
  readonly what: string;
}

/** By what is promised of this durability, what was acknowledged in this time may be gone. */
export interface Loss extends Span {
  readonly kind: "loss";
}

/** An answer that no state explains. */
export interface Unexpected {
  readonly kind: "unexpected";
  readonly at: number;
  readonly what: string;
  /** No wonder when what was acknowledged then may be lost. */
  readonly unlessLost?: number;
}

export type Entry =
  | Write
  | Read
  | Append
  | ListRead
  | Repeat
  | Walk
  | Access
  | Revoked
  | Probe
  | Answered
  | Limited
  | Refusing
  | Made
  | Told
  | Reset
  | Compared
  | Fault
  | Loss
  | Unexpected;

export type Kind = Entry["kind"];

export class History {
  readonly #entries: Entry[] = [];

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  now(): number {
    return performance.now();
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
  }

  /** What was just sent; `end` says what became of it. */
  begin(sent: Omit<Write, "from" | "to" | "outcome"> | Omit<Append, "from" | "to" | "outcome">): Pending {
    const entry = { ...sent, from: this.now(), to: Number.POSITIVE_INFINITY, outcome: "unknown" } as Write | Append;
    this.#entries.push(entry);
    return {
      end: (outcome) => {
        Object.assign(entry, { outcome, to: this.now() });
      },
    };
  }

  /** From now on a credential may be refused; once `end` was called, it has to be. */
  beginRevoking(credential: string): { end(): void } {
    const entry = { kind: "revoked", credential, from: this.now(), to: Number.POSITIVE_INFINITY } as const;
    this.#entries.push(entry);
    return { end: () => void Object.assign(entry, { to: this.now() }) };
  }

  /** From now on Redis refuses writes, until `end` was called. */
  beginRefusing(replicas: number): { end(): void } {
    const entry = { kind: "refusing", replicas, from: this.now(), to: Number.POSITIVE_INFINITY } as const;
    this.#entries.push(entry);
    return { end: () => void Object.assign(entry, { to: this.now() }) };
  }

  fault(what: string): void {
    this.add({ kind: "fault", at: this.now(), what });
  }

  unexpected(what: string, unlessLost?: number): void {
    this.add({ kind: "unexpected", at: this.now(), what, ...(unlessLost !== undefined && { unlessLost }) });
  }
}

export interface Pending {
  end(outcome: Outcome): void;
}

/** The entries of one kind, in the order in which they were written down. */
export function only<K extends Kind>(entries: readonly Entry[], kind: K): readonly Extract<Entry, { kind: K }>[] {
  return entries.filter((entry): entry is Extract<Entry, { kind: K }> => entry.kind === kind);
}

export function isWithin(spans: readonly Span[], at: number): boolean {
  return spans.some(({ from, to }) => at >= from && at <= to);
}

export function grouped<T>(all: readonly T[], nameOf: (each: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const each of all) {
    const name = nameOf(each);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [each]);
    else group.push(each);
  }
  return groups;
}
