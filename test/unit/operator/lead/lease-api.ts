// The fake API server's objects without the wire, for electors under a manual clock: answers come
// when that clock says so, and a plan decides what goes wrong. Only the verbs that an elector uses.

import type { JsonObject } from "../../../../core/config/types.ts";
import {
  ApiFailure,
  ApiUnreachable,
  type CallOptions,
  type KubeApi,
  type KubeObject,
  type ResourceType,
} from "../../../../operator/kube/api.ts";
import { type FakeApiObjects, Refused } from "../../../support/fake-api/fake-api-objects.ts";
import type { ManualTime } from "../../../support/time/manual-time.ts";

export type LeaseVerb = "get" | "create" | "replace";

/** `lost` = it happens, and the answer never comes; `refused` = 500. */
export interface LeaseFault {
  readonly kind: "unreachable" | "lost" | "refused" | "slow";
  /** How long the request takes before it is carried out, when slow. */
  readonly milliseconds?: number;
}

export type LeaseFaults = (verb: LeaseVerb) => LeaseFault | undefined;
export type LeaseApi = Pick<KubeApi, LeaseVerb> & { calls: LeaseVerb[]; faults: LeaseFaults };

export function leaseApi(objects: FakeApiObjects, { timers }: ManualTime): LeaseApi {
  const call = async <T>(verb: LeaseVerb, run: () => T, options: CallOptions = {}): Promise<T> => {
    api.calls.push(verb);
    const fault = api.faults(verb);
    const carriedOut = Promise.withResolvers<T>();
    const carryOut = (): void => {
      try {
        const result = run();
        if (fault?.kind !== "lost") carriedOut.resolve(result);
      } catch (error) {
        carriedOut.reject(failureOf(error));
      }
    };
    const stops = [
      timers.after(options.timeoutMs ?? 10_000, () => carriedOut.reject(new ApiUnreachable("No answer in time"))),
    ];
    options.signal?.addEventListener("abort", () => carriedOut.reject(options.signal?.reason));
    if (fault?.kind === "refused") carriedOut.reject(new ApiFailure(500, { message: "Says the plan" }));
    else if (fault?.kind === "slow") timers.after(fault.milliseconds ?? 0, carryOut);
    else if (fault?.kind !== "unreachable") stops.push(timers.after(1, carryOut));
    try {
      return await carriedOut.promise;
    } finally {
      for (const stop of stops) stop();
    }
  };
  const collectionOf = ({ group, plural }: ResourceType): string => `${group}/${plural}`;
  const api: LeaseApi = {
    calls: [],
    faults: () => undefined,
    get: (type, { namespace, name }, options) =>
      call("get", () => objects.get(collectionOf(type), namespace, name) as KubeObject | undefined, options),
    create: (type, object: JsonObject, options) =>
      call("create", () => objects.create(collectionOf(type), object) as unknown as KubeObject, options),
    replace: (type, object: JsonObject, options) =>
      call("replace", () => objects.replace(collectionOf(type), object) as unknown as KubeObject, options),
  };
  return api;
}

function failureOf(error: unknown): unknown {
  return error instanceof Refused ? new ApiFailure(error.code, error) : error;
}
