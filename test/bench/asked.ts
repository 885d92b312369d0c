// What a benchmark's server answers to the process that started it: the CPU time it took so far, and a CPU profile of what it
// does. Ends with that process.

import { Session } from "node:inspector/promises";

/** Microseconds between two samples of a profile. */
const samplingInterval = 200;

export interface Question {
  readonly id: number;
  readonly ask: "cpu" | "profile" | "profiled";
}

export function answerQuestions(): void {
  let profiling: Session | undefined;
  const answers: Readonly<Record<Question["ask"], () => unknown>> = {
    /** Microseconds, of all threads. */
    cpu: () => {
      const { user, system } = process.cpuUsage();
      return user + system;
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
  process.on("message", async ({ id, ask }: Question) => process.send?.({ id, answer: await answers[ask]() }));
  process.once("disconnect", () => process.exit());
}
