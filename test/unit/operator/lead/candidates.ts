// Processes that ask for one Lease of an API server without a wire, under one manual clock.

import { createElector, type Leadership, type LeadObservation } from "../../../../operator/lead/elector.ts";
import { FakeApiObjects, type StoredObject } from "../../../support/fake-api/fake-api-objects.ts";
import { type ManualTime, manualTime } from "../../../support/time/manual-time.ts";
import { type LeaseApi, leaseApi } from "./lease-api.ts";

export const leases = "coordination.k8s.io/leases";

export interface Candidate {
  readonly api: LeaseApi;
  readonly reported: LeadObservation[];
  readonly stop: AbortController;
  readonly acquired: Promise<Leadership>;
  leads?: Leadership;
}

export interface CandidateOptions {
  readonly time?: ManualTime;
}

export interface Election {
  readonly time: ManualTime;
  readonly objects: FakeApiObjects;
  candidate(identity: string, options?: CandidateOptions): Candidate;
  lease(): StoredObject | undefined;
  spec(): Record<string, unknown>;
}

export function openElection(): Election {
  const time = manualTime();
  const objects = new FakeApiObjects();
  const lease = () => objects.get(leases, "system", "jsonplane-operator");
  return {
    time,
    objects,
    lease,
    spec: () => lease()?.["spec"] as Record<string, unknown>,
    candidate(identity, { time: own = time } = {}) {
      const api = leaseApi(objects, own);
      const reported: LeadObservation[] = [];
      const elector = createElector({
        ...own,
        api,
        namespace: "system",
        name: "jsonplane-operator",
        identity,
        leaseDurationMs: 15_000,
        random: () => 0.5,
        observe: (observation) => reported.push(observation),
      });
      const stop = new AbortController();
      const acquired = elector.acquire(stop.signal);
      const candidate: Candidate = { api, reported, stop, acquired };
      acquired.then(
        (leadership) => {
          candidate.leads = leadership;
        },
        () => undefined,
      );
      return candidate;
    },
  };
}
