// Loaded into a program of a test: on SIGUSR2 it collects garbage and writes on standard error how
// many bytes of memory are still in use (Node needs --expose-gc). memory-in-use.ts asks for that.

import { setTimeout as sleep } from "node:timers/promises";

process.on("SIGUSR2", async () => {
  // Weak references and finalizers are dealt with between two collections.
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await sleep(50);
  }
  const { heapUsed, external } = process.memoryUsage();
  process.stderr.write(`${JSON.stringify({ heapUsed, external })}\n`);
});
