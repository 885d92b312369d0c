// Single attempts at the Lease: take, renew, read or release it. Each makes one or two calls; a refused or unanswered call is
// thrown and changes no state here. Only resourceVersions decide which process holds the Lease.

import type { Clock } from "../../core/clock.ts";
import type { Monotonic } from "../../core/timers.ts";
import { isConflict, isNotFound, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
import { leaseType } from "../kube/resource-types.ts";
import {
  type HolderAccount,
  heldLease,
  type LeaseHolder,
  type LeaseRecord,
  leaseRecordOf,
  newLease,
  releasedLease,
} from "./lease.ts";

/** `moment` is from before the request was sent: the API server can't have carried it out any earlier. */
export type Attempt =
  | { readonly held: true; readonly moment: Moment; readonly transitions: number }
  | { readonly held: false };

/** One moment by both clocks. */
export interface Moment {
  readonly monotonicMs: number;
  readonly clockMs: number;
}

export interface LeaseClientOptions {
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly lease: ObjectName;
  readonly identity: string;
  /** The ServiceAccount of this process, as its credentials say now; undefined for others. */
  readonly account: () => Promise<HolderAccount | undefined>;
  /** The release that this process belongs to; absent = none, which treats the Lease of every release as its own. */
  readonly release: string | undefined;
  /** Whether a person allowed taking over what another release had. */
  readonly adopt: boolean;
  readonly leaseDurationMs: number;
  readonly retryMs: number;
  readonly callMs: number;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Called when the holder changes; empty = the Lease has none. */
  readonly seen: (holder: string) => void;
  /** Called when the Lease comes to be another release's, with its name, and with undefined once it is not any more. */
  readonly seenRelease: (other: string | undefined) => void;
}

const releaseAttempts = 3;
/** Retry periods for which a holder with a deleted account is left alone: a holder that still works renews once in each. */
const formerAccountPeriods = 1.5;
/**
 * How long a Lease of another release is left alone after its last change, whether it has a holder or not: that release's operator may be
 * replaced or restarted meanwhile. Its key ring is in use by that release's data plane, with another Redis.
 */
const otherReleaseMs = 600_000;

export interface LeaseClient {
  /**
   * Takes the Lease if it has no holder, or if its holder has not renewed it for the duration that it wrote there; another release's, unless
   * a person allowed it, only after ten minutes without a change.
   */
  take(): Promise<Attempt>;
  /** Renews it if it is still this process's; never takes it. */
  renew(signal: AbortSignal): Promise<Attempt>;
  /** Whether it is this process's at the API server. */
  isMine(): Promise<boolean>;
  /** Leaves it without a holder, if it is this process's. */
  release(): Promise<void>;
  now(): Moment;
}

export function createLeaseClient(options: LeaseClientOptions): LeaseClient {
  const { api, lease, identity, account, release, leaseDurationMs, retryMs, callMs, clock, monotonic, seen } = options;
  /** The Lease as it was seen last, and since when by this process's own clock it has been so. */
  let known: KubeObject | undefined;
  let record: LeaseRecord | undefined;
  let unchangedSince = 0;
  let otherRelease: string | undefined;

  const now = (): Moment => ({ monotonicMs: monotonic(), clockMs: clock.now() });
  const holderAt = async ({ clockMs }: Moment): Promise<LeaseHolder> => {
    return { identity, account: await account(), release, leaseDurationMs, now: clockMs };
  };

  const observeLease = (object: KubeObject): LeaseRecord => {
    const next = leaseRecordOf(object);
    if (next.text !== record?.text) unchangedSince = monotonic();
    if (next.holder !== record?.holder) seen(next.holder);
    noteRelease(next);
    known = object;
    record = next;
    return next;
  };

  const noteRelease = (found: LeaseRecord): void => {
    const other = release === undefined || found.release === release ? undefined : found.release;
    if (other !== otherRelease) options.seenRelease(other);
    otherRelease = other;
  };

  const read = async (signal?: AbortSignal): Promise<KubeObject | undefined> => {
    const object = await api.get(leaseType, lease, { timeoutMs: callMs, ...(signal && { signal }) });
    if (object !== undefined) observeLease(object);
    return object;
  };

  const held = (object: KubeObject, moment: Moment): Attempt => {
    const { holder, transitions } = observeLease(object);
    return holder === identity ? { held: true, moment, transitions } : { held: false };
  };

  const put = async (object: KubeObject, signal?: AbortSignal): Promise<Attempt> => {
    const moment = now();
    const body = heldLease(object, await holderAt(moment));
    return held(await api.replace(leaseType, body, { timeoutMs: callMs, ...(signal && { signal }) }), moment);
  };

  const create = async (): Promise<Attempt> => {
    const moment = now();
    const body = newLease(lease, await holderAt(moment));
    return held(await api.create(leaseType, body, { timeoutMs: callMs }), moment);
  };

  /** Without reading first, as nearly always works; undefined when the Lease is not as it was. */
  const renewKnown = async (signal: AbortSignal): Promise<Attempt | undefined> => {
    if (known === undefined || record?.holder !== identity) return undefined;
    try {
      return await put(known, signal);
    } catch (error) {
      if (isNotFound(error)) return { held: false };
      if (isConflict(error)) return undefined;
      throw error;
    }
  };

  const isLeftAlone = async ({ holder, durationMs, account: theirs }: LeaseRecord): Promise<boolean> => {
    if (otherRelease !== undefined && !options.adopt) return monotonic() - unchangedSince < otherReleaseMs;
    if (holder === "" || holder === identity) return false;
    const isFormer = isRecreatedAccount(theirs, await account());
    const aloneMs = isFormer ? Math.min(durationMs, formerAccountPeriods * retryMs) : durationMs;
    return monotonic() - unchangedSince < aloneMs;
  };

  const isMine = async (): Promise<boolean> => {
    const object = await read();
    return object !== undefined && leaseRecordOf(object).holder === identity;
  };

  return {
    now,
    isMine,
    async take() {
      try {
        const object = await read();
        if (object === undefined) return await create();
        return (await isLeftAlone(observeLease(object))) ? { held: false } : await put(object);
      } catch (error) {
        // Another process was faster.
        if (isConflict(error)) return { held: false };
        throw error;
      }
    },
    async renew(signal) {
      const attempt = await renewKnown(signal);
      if (attempt !== undefined) return attempt;
      // Changed since: by an own request whose response was lost, by an edit, or because another process has it now.
      const object = await read(signal);
      return object !== undefined && leaseRecordOf(object).holder === identity ? put(object, signal) : { held: false };
    },
    async release() {
      // Read first: what is known may be old, since the last renewal may have been cut off. It may even arrive in between.
      for (let attempt = 1; (await isMine()) && known !== undefined; attempt += 1) {
        try {
          observeLease(await api.replace(leaseType, releasedLease(known, clock.now()), { timeoutMs: callMs }));
          return;
        } catch (error) {
          if (!isConflict(error) || attempt === releaseAttempts) throw error;
        }
      }
    },
  };
}

/**
 * Whether the holder's ServiceAccount was deleted, as by `helm uninstall`, before the holder could release the Lease: this process has a
 * recreated account of the same name, and tokens of the former account are refused.
 */
function isRecreatedAccount(theirs: HolderAccount | undefined, mine: HolderAccount | undefined): boolean {
  if (theirs === undefined || mine === undefined) return false;
  return theirs.namespace === mine.namespace && theirs.name === mine.name && theirs.uid !== mine.uid;
}
