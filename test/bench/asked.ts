// What a benchmark's server answers to the process that started it: the CPU time it took so far, for how long its event loop stood still at
// most, and a CPU profile of what it does. Ends with that process.

import { Session } from "node:inspector/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";

/** Microseconds between two samples of a profile. */
const samplingInterval = 200;

export interface Question {
  readonly id: number;
  readonly ask: "cpu" | "stop" | "profile" | "profiled" | "answered";
}

/** Milliseconds between two looks at the event loop. */
const lookEveryMs = 5;

export function answerQuestions(): void {
  const delays = monitorEventLoopDelay({ resolution: lookEveryMs });
  let profiling: Session | undefined;
  const answers: Readonly<Partial<Record<Question["ask"], () => unknown>>> = {
    /** Microseconds, of all threads. */
    cpu: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    /** Milliseconds of the longest stop since this was asked last. */
    stop() {
      const maxStop = delays.max / 1e6 - lookEveryMs;
      delays.enable();
      delays.reset();
      return maxStop;
    },
    async profile() {
      profiling = new Session();
      profiling.connect();
      await profiling.post("Profiler.enable");
      await profiling.post("Profiler.setSamplingInterval", { interval: samplingInterval });
      await profiling.post("Profiler.start");
    },
    async profiled() {
      const { profile } = (await profiling?.post("Profiler.stop")) ?? {};
      profiling?.disconnect();
      return profile;
    },
  };
  process.on("message", async ({ id, ask }: Question) => process.send?.({ id, answer: await answers[ask]?.() }));
  process.once("disconnect", () => process.exit());
}
