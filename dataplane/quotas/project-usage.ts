// What one project with a quota stores, as this replica knows it: what the store said last, what was written here since, and what
// is reserved for writes under way. Refuses with 403 `quota_exceeded`; with what the store raises when it has to be asked first.
//
// Several replicas share a quota without a step of their own per write: each asks the store again every second while writes
// come in, and before it refuses. So together they exceed a quota by what the others write within two seconds, one alone never.

import type { Clock } from "../../core/clock.ts";
import { type QuotaKind, quotaKinds } from "../../core/config/quota-uses.ts";
import type { ProjectQuota } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { type Amounts, noAmounts, type PartialAmounts, plus } from "./stored-amounts.ts";

/** After this time the store is asked again beside the writes that come in, and after the next one before them. */
const freshMs = 1_000;
const staleMs = 2_000;
/** A refusal goes by amounts of at most this age. */
const refusalMs = 250;

export interface Reservation {
  /** What of `upTo` could be reserved. */
  readonly granted: PartialAmounts;
  /** Ends it; `added` is what the write stored of it. */
  commit(added: PartialAmounts): void;
}

export interface Want {
  /** Refused when there is no room for all of it. */
  readonly required?: PartialAmounts;
  /** As much of it as there is room for. */
  readonly upTo?: PartialAmounts;
}

export interface ProjectUsage {
  /** Reserves room for a write. */
  reserve(quota: ProjectQuota, want: Want): Promise<Reservation>;
  /** Something was written without a reservation. */
  added(amounts: PartialAmounts): void;
  /** Something shrank: before a write is refused, the store is asked again. */
  freed(): void;
  /** Asks the store, unless it was asked within this time and nothing was written here since. */
  refreshAfter(milliseconds: number): Promise<void>;
  /** What is known may be of other things than what counts now: asks the store before the next write. */
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
  let reserved = noAmounts;
  let isDoubtful = false;
  let reading: Promise<void> | undefined;

  const age = (): number => clock.monotonic() - foundAt;

  const ask = async (): Promise<void> => {
    const before = written;
    const askedAt = clock.monotonic();
    isDoubtful = false;
    const answer = await read();
    found = answer;
    foundAt = askedAt;
    written = plus(written, before, -1);
    // What was written meanwhile may be counted twice now: that is only ever too careful, and asked again before a refusal.
    if (hasChanged()) isDoubtful = true;
  };

  const hasChanged = (): boolean => isDoubtful || quotaKinds.some((kind) => written[kind] !== 0);

  const refresh = (): Promise<void> => {
    reading ??= ask().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const used = (): Amounts => plus(plus(found ?? noAmounts, written), reserved);

  const lacking = (quota: ProjectQuota, wanted: PartialAmounts): QuotaKind | undefined => {
    const now = used();
    return quotaKinds.find((kind) => (wanted[kind] ?? 0) > 0 && now[kind] + (wanted[kind] ?? 0) > limit(quota, kind));
  };

  const beCurrent = async (): Promise<void> => {
    const old = age();
    if (old > staleMs) await refresh();
    // Should it fail, the next write waits for it and gets the error.
    else if (old > freshMs) refresh().catch(() => undefined);
  };

  const beCurrentEnough = async (quota: ProjectQuota, { required = {}, upTo = {} }: Want): Promise<void> => {
    await beCurrent();
    if (lacking(quota, plus(plus(noAmounts, required), upTo)) === undefined) return;
    if (!isDoubtful && age() <= refusalMs) return;
    // One under way may have begun before what is to be seen.
    await reading;
    await refresh();
  };

  return {
    async reserve(quota, want) {
      const { required = {}, upTo = {} } = want;
      await beCurrentEnough(quota, want);
      const kind = lacking(quota, required);
      if (kind !== undefined) throw refusalOf(quota, kind);
      const room = plus(used(), required);
      const granted: Partial<Record<QuotaKind, number>> = {};
      for (const each of quotaKinds) {
        const wanted = upTo[each];
        if (wanted !== undefined) granted[each] = Math.max(0, Math.min(wanted, limit(quota, each) - room[each]));
      }
      const reservation = plus(plus(noAmounts, required), granted);
      reserved = plus(reserved, reservation);
      return {
        granted,
        commit(added) {
          reserved = plus(reserved, reservation, -1);
          written = plus(written, added);
        },
      };
    },
    added(amounts) {
      written = plus(written, amounts);
    },
    freed() {
      isDoubtful = true;
    },
    async refreshAfter(milliseconds) {
      if (age() > (hasChanged() ? freshMs : milliseconds)) await refresh();
    },
    forget() {
      foundAt = Number.NEGATIVE_INFINITY;
    },
    amounts: () => found && used(),
    refusal: refusalOf,
  };
}

function limit(quota: ProjectQuota, kind: QuotaKind): number {
  return quota[kind] ?? Number.POSITIVE_INFINITY;
}

const nouns: Readonly<Record<QuotaKind, string>> = {
  objects: "objects in all resources",
  bytes: "bytes of stored JSON",
  documentKeys: "members at the top of its root keys' values",
};

/** Without the figures: a caller who may create one object need not learn how much others stored. */
function refusalOf(quota: ProjectQuota, kind: QuotaKind): Problem {
  const detail = `This would exceed the project's quota \`${kind}\`: at most ${limit(quota, kind)} ${nouns[kind]}; delete some first`;
  return new Problem("quota_exceeded", detail);
}
