// Requests one after the other, in the background, while a test breaks something: says in the end
// which of them did not get the answer that was expected.

import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "../http/http-client.ts";

export interface Traffic {
  /** Ends the loop; how many requests were answered as expected, and what the others met. */
  stop(): Promise<{ readonly answered: number; readonly failures: readonly string[] }>;
}

const pauseMs = 10;

/** `asked` is sent again and again; each answer is to have status 200. */
export function startTraffic(...asked: readonly (() => Promise<Reply>)[]): Traffic {
  let stopped = false;
  let answered = 0;
  const failures: string[] = [];
  const since = Date.now();
  const once = async (ask: () => Promise<Reply>): Promise<void> => {
    try {
      const { status, text } = await ask();
      if (status === 200) answered += 1;
      else failures.push(`after ${Date.now() - since} ms: ${status} ${text.slice(0, 200)}`);
    } catch (error) {
      failures.push(`after ${Date.now() - since} ms: ${String(error)}`);
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopped) {
      for (const ask of asked) await once(ask);
      await sleep(pauseMs);
    }
  };
  const looping = loop();
  return {
    async stop() {
      stopped = true;
      await looping;
      return { answered, failures };
    },
  };
}
