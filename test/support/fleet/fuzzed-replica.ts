// A replica over real Redis JSON that serves the projects of both tenants of the fuzzer.

import type { FuzzTarget } from "../../fuzz/fuzz.ts";
import type { Tenant } from "../../fuzz/tenants.ts";
import { startAttacked } from "./attacked-replica.ts";

export interface FuzzedReplica extends FuzzTarget {
  readonly origin: string;
  stop(): Promise<void>;
}

export async function startFuzzed(tenants: readonly Tenant[]): Promise<FuzzedReplica> {
  const { replica, stop } = await startAttacked(
    ...tenants.flatMap(({ projects }) => projects.map(({ parts }) => parts)),
  );
  return { origin: replica.origin, send: replica.send, log: replica.log, stop };
}
