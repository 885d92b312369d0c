// The Lease object of the API server, and single attempts to take, renew or release it. Only
// resourceVersions decide which process holds it. The times in it are for people and monitoring: no
// process trusts another process's clock.

import type { Clock } from "../../core/clock.ts";
import type { Json, JsonObject } from "../../core/config/types.ts";
import type { Monotonic } from "../../core/timers.ts";
import { isConflict, isNotFound, type KubeApi, type KubeObject } from "../kube/api.ts";
import { leaseType } from "../kube/objects.ts";

export interface LeaseOptions {
  /** Not fenced: the right to write depends on these calls. */
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly namespace: string;
  readonly name: string;
  /** No other process has it, and none that ran before had. */
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
}

/** One moment by both clocks. */
export interface Moment {
  readonly monotonicMs: number;
  readonly clockMs: number;
}

/**
 * `moment` is from before the request was sent: the API server can't have carried it out any
 * earlier.
 */
export interface Hold {
  readonly moment: Moment;
  readonly transitions: number;
}

/**
 * Each call makes one or two requests. A refused or unanswered one is thrown, and changes nothing
 * here.
 */
export interface LeaseClient {
  /**
   * Takes the Lease if it has no holder, or if its holder has not renewed it for the duration that
   * it wrote there.
   */
  take(): Promise<Hold | undefined>;
  /** Renews it if it is still this process's; never takes it. */
  renew(signal: AbortSignal): Promise<Hold | undefined>;
  /** Whether the API server says that this process holds it. */
  isMine(): Promise<boolean>;
  /** Leaves it without a holder, if it is this process's. */
  release(): Promise<void>;
  now(): Moment;
}

const releaseAttempts = 3;

/** `onHolder` is called when the holder changes; empty = the Lease has none. */
export function createLeaseClient(options: LeaseOptions, onHolder: (holder: string) => void): LeaseClient {
  const { api, namespace, name, identity, leaseDurationMs, clock, monotonic } = options;
  const timeoutMs = leaseDurationMs / 3;
  /** The Lease as it was read last, and since when by this process's own clock it has been so. */
  let known: { readonly object: KubeObject; readonly state: LeaseState } | undefined;
  let unchangedSince = 0;

  const now = (): Moment => ({ monotonicMs: monotonic(), clockMs: clock.now() });
  const isHolder = (): boolean => known?.state.holder === identity;

  const keep = (object: KubeObject): LeaseState => {
    const state = leaseStateOf(object);
    if (state.text !== known?.state.text) unchangedSince = monotonic();
    if (state.holder !== known?.state.holder) onHolder(state.holder);
    known = { object, state };
    return state;
  };

  const read = async (signal?: AbortSignal): Promise<KubeObject | undefined> => {
    const object = await api.get(leaseType, { namespace, name }, { timeoutMs, ...(signal && { signal }) });
    if (object !== undefined) keep(object);
    return object;
  };

  /** Creates the Lease, renews it, or takes it over from another holder. */
  const write = async (before: KubeObject | undefined, signal?: AbortSignal): Promise<Hold | undefined> => {
    const moment = now();
    const call = { timeoutMs, ...(signal && { signal }) };
    const holder = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      renewTime: microTime(moment.clockMs),
    };
    const acquireTime = microTime(moment.clockMs);
    let written: KubeObject;
    if (before === undefined) {
      const body = leaseWith({ name, namespace }, { ...holder, acquireTime, leaseTransitions: 0 });
      written = await api.create(leaseType, body, call);
    } else {
      const { holder: former, transitions } = leaseStateOf(before);
      const taken = former === identity ? {} : { acquireTime, leaseTransitions: transitions + 1 };
      const spec = { ...specOf(before), ...holder, ...taken };
      written = await api.replace(leaseType, leaseWith(metadataOf(before), spec), call);
    }
    const { transitions } = keep(written);
    return isHolder() ? { moment, transitions } : undefined;
  };

  /** Without reading first, as nearly always works; undefined when the Lease is not as it was. */
  const writeKnown = async (signal: AbortSignal): Promise<Hold | undefined> => {
    if (known === undefined || !isHolder()) return undefined;
    try {
      return await write(known.object, signal);
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return undefined;
      throw error;
    }
  };

  const isOthers = ({ holder, durationMs }: LeaseState): boolean =>
    holder !== "" && holder !== identity && monotonic() - unchangedSince < durationMs;

  const isMine = async (): Promise<boolean> => (await read()) !== undefined && isHolder();

  return {
    now,
    isMine,
    async take() {
      try {
        const object = await read();
        return object !== undefined && isOthers(leaseStateOf(object)) ? undefined : await write(object);
      } catch (error) {
        // Another process was faster.
        if (isConflict(error)) return undefined;
        throw error;
      }
    },
    async renew(signal) {
      const hold = await writeKnown(signal);
      if (hold !== undefined) return hold;
      // Changed since: by an own request whose response was lost, by an edit, or because another
      // process has it now.
      const object = await read(signal);
      return object !== undefined && isHolder() ? write(object, signal) : undefined;
    },
    async release() {
      // Read first: the last renewal may have been cut off. It may even arrive between the reading
      // and the write.
      for (let attempt = 1; (await isMine()) && known !== undefined; attempt += 1) {
        try {
          keep(await api.replace(leaseType, releasedLease(known.object, clock.now()), { timeoutMs }));
          return;
        } catch (error) {
          if (!isConflict(error) || attempt === releaseAttempts) throw error;
        }
      }
    },
  };
}

interface LeaseState {
  /** Empty when no process holds it. */
  readonly holder: string;
  /** For how long after its last renewal the holder keeps it. */
  readonly durationMs: number;
  /** How often the holder has changed. */
  readonly transitions: number;
  /** Equal texts = nothing was renewed in between. */
  readonly text: string;
}

function leaseStateOf(lease: KubeObject): LeaseState {
  const spec = specOf(lease);
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = spec;
  return {
    holder: typeof holderIdentity === "string" ? holderIdentity : "",
    durationMs: typeof leaseDurationSeconds === "number" ? leaseDurationSeconds * 1000 : 0,
    transitions: typeof leaseTransitions === "number" ? leaseTransitions : 0,
    text: JSON.stringify(spec),
  };
}

/** One second, because the API server requires a duration. */
function releasedLease(lease: KubeObject, now: number): JsonObject {
  const time = microTime(now);
  const released = { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: time, renewTime: time };
  return leaseWith(metadataOf(lease), { ...specOf(lease), ...released });
}

function leaseWith(metadata: JsonObject, spec: JsonObject): JsonObject {
  return { apiVersion: `${leaseType.group}/${leaseType.version}`, kind: leaseType.kind, metadata, spec };
}

function metadataOf(lease: KubeObject): JsonObject {
  return lease.metadata as unknown as JsonObject;
}

function specOf(lease: KubeObject): { readonly [member: string]: Json } {
  return (lease["spec"] ?? {}) as { readonly [member: string]: Json };
}

/** RFC 3339 with six digits, as Kubernetes writes its MicroTime. */
export function microTime(unixMs: number): string {
  return new Date(unixMs).toISOString().replace("Z", "000Z");
}
