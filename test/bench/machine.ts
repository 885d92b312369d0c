// What a reader has to know of the machine that figures come from: its cores, and how busy others kept them when a benchmark began.

import { availableParallelism, loadavg } from "node:os";

const cores = availableParallelism();
const [load = 0] = loadavg();

/** The load counts programs that ran or wanted to, the minute before: near 0, the figures have the machine to themselves. */
export function machine(): string {
  const described = `${cores} cores; load average of the machine at the start: ${load.toFixed(1)}`;
  return load < cores / 2
    ? described
    : `${described}, other programs were running: **even the ratios are rough, measure again**`;
}
