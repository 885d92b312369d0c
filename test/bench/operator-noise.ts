// A namespace that keeps the operator busy: it applies 5,000 objects, and changes one of them ten times a second.

import { setTimeout as sleep } from "node:timers/promises";
import type { KubeApi } from "../../operator/kube/api.ts";
import { customTypes, namespaceType } from "../../operator/kube/resource-types.ts";
import { declareAll } from "./operator-objects.ts";

const namespace = "bench-noisy";
const projects = 1_000;
const atOnce = 8;
const betweenEditsMs = 100;

export interface Noise {
  /** How many objects have been applied so far. */
  applied(): number;
  stop(): Promise<void>;
}

export async function beginNoise(api: KubeApi): Promise<Noise> {
  await api.create(namespaceType, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  let applied = 0;
  let stopped = false;
  const places = Array.from({ length: projects }, (_, index) => ({ namespace, name: `p${index}` }));
  const count = (): void => {
    applied += 1;
  };
  const edit = async (): Promise<void> => {
    const ref = { namespace, name: "p0-a" };
    for (let round = 0; !stopped; round += 1) {
      await sleep(betweenEditsMs);
      const key = await api.get(customTypes.ApiKey, ref);
      if (key === undefined) continue;
      const spec = { ...(key["spec"] as object), description: `edit ${round}` };
      // Between the reading and the writing its status may have been written.
      await api.replace(customTypes.ApiKey, { ...key, spec } as never).catch(() => undefined);
    }
  };
  const running = Promise.all([declareAll(api, places, { atOnce, onMade: count, stopped: () => stopped }), edit()]);
  return {
    applied: () => applied,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
