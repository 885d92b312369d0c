// A replica over real Redis JSON that serves the projects of both tenants of the fuzzer.

import type { FuzzTarget } from "../fuzz/fuzz.ts";
import type { Tenant } from "../fuzz/tenants.ts";
import { startAttacked } from "./attacked-replica.ts";

export async function startFuzzed(tenants: readonly Tenant[]): Promise<FuzzTarget & { stop(): Promise<void> }> {
  const { replica, stop } = await startAttacked(
    ...tenants.flatMap(({ projects }) => projects.map(({ parts }) => parts)),
  );
  return { send: replica.send, log: replica.log, stop };
}
