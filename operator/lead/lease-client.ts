// Single attempts at the Lease: take, renew, read or release it. Each makes one or two calls; a refused or unanswered call is
// thrown and changes no state here. Only resourceVersions decide which process holds the Lease.

import type { Clock } from "../../core/clock.ts";
import type { Monotonic } from "../../core/timers.ts";
import { isConflict, isNotFound, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
import { leaseType } from "../kube/resource-types.ts";
import { heldLease, type LeaseHolder, type LeaseRecord, leaseRecordOf, newLease, releasedLease } from "./lease.ts";

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
  readonly leaseDurationMs: number;
  readonly callMs: number;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Called when the holder changes; empty = the Lease has none. */
  readonly seen: (holder: string) => void;
}

const releaseAttempts = 3;

export interface LeaseClient {
  /** Takes the Lease if it has no holder, or if its holder has not renewed it for the duration that it wrote there. */
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
  const { api, lease, identity, leaseDurationMs, callMs, clock, monotonic, seen } = options;
  /** The Lease as it was seen last, and since when by this process's own clock it has been so. */
  let known: KubeObject | undefined;
  let record: LeaseRecord | undefined;
  let unchangedSince = 0;

  const now = (): Moment => ({ monotonicMs: monotonic(), clockMs: clock.now() });
  const holderAt = ({ clockMs }: Moment): LeaseHolder => ({ identity, leaseDurationMs, now: clockMs });

  const observeLease = (object: KubeObject): LeaseRecord => {
    const next = leaseRecordOf(object);
    if (next.text !== record?.text) unchangedSince = monotonic();
    if (next.holder !== record?.holder) seen(next.holder);
    known = object;
    record = next;
    return next;
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
    const body = heldLease(object, holderAt(moment));
    return held(await api.replace(leaseType, body, { timeoutMs: callMs, ...(signal && { signal }) }), moment);
  };

  const create = async (): Promise<Attempt> => {
    const moment = now();
    const body = newLease(lease, holderAt(moment));
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

  const isLeftAlone = ({ holder, durationMs }: LeaseRecord): boolean =>
    holder !== "" && holder !== identity && monotonic() - unchangedSince < durationMs;

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
        return isLeftAlone(observeLease(object)) ? { held: false } : await put(object);
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
