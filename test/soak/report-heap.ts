// Preloaded into an operator that is soaked: at SIGUSR2 it collects garbage, and says on standard error how much memory is in use.

import { setTimeout as sleep } from "node:timers/promises";

process.on("SIGUSR2", async () => {
  // Weak references and finalizers are dealt with between two collections.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await sleep(50);
  }
  process.stderr.write(`${JSON.stringify({ heapUsedBytes: process.memoryUsage().heapUsed })}\n`);
});
