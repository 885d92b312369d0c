// What one project with a quota stores, as this replica knows it: the store's last answer, what was
// written here since, and reservations of writes under way. Refuses with 403 `quota_exceeded`, or
// with what the store raises.
//
// Replicas share a quota without a step per write: each asks the store every second while writes
// come in, and before it refuses. So they exceed it at most by what the others write within two
// seconds.

import type { Clock } from "../../core/clock.ts";
import { type QuotaKind, quotaKinds } from "../../core/config/quota-uses.ts";
import type { ProjectQuota } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { createKeyedMutex } from "../../core/keyed-mutex.ts";
import { type Amounts, noAmounts, type PartialAmounts, plus } from "./stored-amounts.ts";

/**
 * Older than `freshMs`: refresh in the background. Older than `staleMs`: refresh before the next
 * write.
 */
const freshMs = 1_000;
const staleMs = 2_000;
/** A refusal depends on amounts of at most this age. */
const refusalMs = 250;

export interface Reservation {
  /** What of `upTo` could be reserved. */
  readonly granted: PartialAmounts;
  /** Ends it; `added` is what the write stored of it. */
  commit(added: PartialAmounts): void;
}

export interface ProjectUsage {
  /** Reserves room for a write. Waits for writes under way where they leave too little. */
  reserve(quota: ProjectQuota, want: Want): Promise<Reservation>;
  /** Something was written without a reservation. */
  added(amounts: PartialAmounts): void;
  /** Something shrank: before a write is refused, the store is asked again. */
  freed(): void;
  /** Asks the store, unless it was asked within this time and nothing was written here since. */
  refreshAfter(milliseconds: number): Promise<void>;
  /** What is known may be outdated: the store is asked before the next write. */
  forget(): void;
  /** Undefined until the store was asked once. */
  amounts(): Amounts | undefined;
  refusal(quota: ProjectQuota, kind: QuotaKind): Problem;
}

export function createProjectUsage(read: () => Promise<Amounts>, clock: Clock): ProjectUsage {
  let found: Amounts | undefined;
  let foundAt = Number.NEGATIVE_INFINITY;
  /** Written here since the store was asked, and perhaps already in what it said. */
  let written = noAmounts;
  const reservations = createReservations();
  /**
   * How often the amounts became doubtful, and how often of that the store's last answer includes.
   */
  let doubts = 0;
  let answeredDoubts = 0;
  let reading: Promise<void> | undefined;
  /** Of those that found too little room, and of all that came after them. */
  const line = createKeyedMutex();
  let inLine = 0;

  let isForgotten = false;

  const age = (): number => clock.monotonic() - foundAt;

  const ask = async (): Promise<void> => {
    const before = written;
    const askedAt = clock.monotonic();
    const doubtsBefore = doubts;
    isForgotten = false;
    const answer = await read();
    found = answer;
    // Else it is of what counted before.
    if (!isForgotten) foundAt = askedAt;
    written = plus(written, before, -1);
    // Not before it has answered: until then nobody is to be refused by what was known.
    answeredDoubts = doubtsBefore;
    // What was written during the question may be counted twice: it is asked again before a
    // refusal.
    if (hasChanged()) doubts += 1;
  };

  const isDoubtful = (): boolean => doubts > answeredDoubts;

  const hasChanged = (): boolean => isDoubtful() || quotaKinds.some((kind) => written[kind] !== 0);

  const refresh = (): Promise<void> => {
    reading ??= ask().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const stored = (): Amounts => plus(found ?? noAmounts, written);

  const used = (): Amounts => plus(stored(), reservations.amounts());

  const beCurrent = async (): Promise<void> => {
    const old = age();
    if (old > staleMs) {
      do await refresh();
      while (foundAt === Number.NEGATIVE_INFINITY);
    }
    // Should it fail, the next write waits for it and gets the error.
    else if (old > freshMs) refresh().catch(() => undefined);
  };

  const beCurrentEnough = async (quota: ProjectQuota, want: Want): Promise<void> => {
    await beCurrent();
    if (exceededKind(quota, maxAmountsOf(want), used()) === undefined) return;
    if (!isDoubtful() && age() <= refusalMs) return;
    // A question under way may have begun too early.
    await reading;
    await refresh();
  };

  const reserveNow = (quota: ProjectQuota, want: Want): Reservation => {
    const kind = exceededKind(quota, want.required ?? {}, used());
    if (kind !== undefined) throw refusalOf(quota, kind);
    const granted = grantedOf(quota, want, used());
    const end = reservations.add(maxAmountsOf({ ...want, upTo: granted }));
    return {
      granted,
      commit(added) {
        end();
        written = plus(written, added);
      },
    };
  };

  const mustWait = (quota: ProjectQuota, want: Want): boolean =>
    isCrowded(quota, want, stored(), reservations.amounts());

  const reserveInTurn = async (quota: ProjectQuota, want: Want): Promise<Reservation> => {
    await beCurrentEnough(quota, want);
    if (mustWait(quota, want)) {
      await reservations.ended();
      await beCurrentEnough(quota, want);
    }
    return reserveNow(quota, want);
  };

  return {
    async reserve(quota, want) {
      await beCurrentEnough(quota, want);
      if (inLine === 0 && !mustWait(quota, want)) return reserveNow(quota, want);
      // Writes under way reserve the most that they may add, and usually add less: refusing by that
      // would be wrong. In order of arrival, so that nobody takes what another one waits for.
      inLine += 1;
      return line
        .run("", () => reserveInTurn(quota, want))
        .finally(() => {
          inLine -= 1;
        });
    },
    added(amounts) {
      written = plus(written, amounts);
    },
    freed() {
      doubts += 1;
    },
    async refreshAfter(milliseconds) {
      if (age() > (hasChanged() ? freshMs : milliseconds)) await refresh();
    },
    forget() {
      isForgotten = true;
      foundAt = Number.NEGATIVE_INFINITY;
    },
    amounts: () => found && used(),
    refusal: refusalOf,
  };
}

const nouns: Readonly<Record<QuotaKind, string>> = {
  objects: "objects in all resources",
  bytes: "bytes of stored JSON",
  documentKeys: "members at the top of its root keys' values",
};

/** Without figures: the caller may not know how much others store. */
function refusalOf(quota: ProjectQuota, kind: QuotaKind): Problem {
  const detail = `This would exceed the project's quota \`${kind}\`: at most ${limitOf(quota, kind)} ${nouns[kind]}; delete some first`;
  return new Problem("quota_exceeded", detail);
}

interface Reservations {
  amounts(): Amounts;
  /** Reserves these until the returned function is called. */
  add(amounts: Amounts): () => void;
  /** Resolves once all that there are now have ended. */
  ended(): Promise<unknown>;
}

function createReservations(): Reservations {
  let reserved = noAmounts;
  const pending = new Set<Promise<void>>();
  return {
    amounts: () => reserved,
    add(amounts) {
      reserved = plus(reserved, amounts);
      const { promise, resolve } = Promise.withResolvers<void>();
      pending.add(promise);
      return () => {
        reserved = plus(reserved, amounts, -1);
        pending.delete(promise);
        resolve();
      };
    },
    ended: () => Promise.all(pending),
  };
}

export interface Want {
  /** Refused when there is no room for all of it. */
  readonly required?: PartialAmounts;
  /** As much of it as there is room for. */
  readonly upTo?: PartialAmounts;
}

function limitOf(quota: ProjectQuota, kind: QuotaKind): number {
  return quota[kind] ?? Number.POSITIVE_INFINITY;
}

/** All that a write may add. */
function maxAmountsOf({ required = {}, upTo = {} }: Want): Amounts {
  return plus(plus(noAmounts, required), upTo);
}

/** The first quota without room for `wanted`. */
function exceededKind(quota: ProjectQuota, wanted: PartialAmounts, used: Amounts): QuotaKind | undefined {
  return quotaKinds.find((kind) => exceeds(quota, kind, wanted, used));
}

function exceeds(quota: ProjectQuota, kind: QuotaKind, wanted: PartialAmounts, used: Amounts): boolean {
  const amount = wanted[kind] ?? 0;
  return amount > 0 && used[kind] + amount > limitOf(quota, kind);
}

/** The part of `upTo` that there is room for. */
function grantedOf(quota: ProjectQuota, { required = {}, upTo = {} }: Want, used: Amounts): PartialAmounts {
  const taken = plus(used, required);
  const granted: Partial<Record<QuotaKind, number>> = {};
  for (const kind of quotaKinds) {
    const wanted = upTo[kind];
    if (wanted !== undefined) granted[kind] = Math.max(0, Math.min(wanted, limitOf(quota, kind) - taken[kind]));
  }
  return granted;
}

/** Whether a write would succeed without the reservations of others. */
function isCrowded(quota: ProjectQuota, want: Want, stored: Amounts, reserved: Amounts): boolean {
  if (exceededKind(quota, want.required ?? {}, stored) !== undefined) return false;
  const [maxAmounts, used] = [maxAmountsOf(want), plus(stored, reserved)];
  return quotaKinds.some(
    (kind) => reserved[kind] > 0 && stored[kind] < limitOf(quota, kind) && exceeds(quota, kind, maxAmounts, used),
  );
}
