// Creates objects on a schedule in each round, and answers with the milliseconds of Unix time at
// which each write was sent, and at which it was acknowledged. Objects are numbered in their field
// `at`, across rounds. It has a process of its own, so that it sees responses when they come.
// Arguments: URL, Authorization, writes a second, seconds of a round.

import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { answerQuestion } from "./processes.ts";
import { bookText } from "./subjects.ts";

export interface SentWrite {
  readonly at: number;
  readonly sent: number;
  readonly acknowledged: number;
}

const [url = "", authorization = "", perSecond = "1", seconds = "1"] = process.argv.slice(2);
const options = {
  method: "POST",
  agent: new Agent({ keepAlive: true }),
  headers: { authorization, "content-type": "application/json" },
};
let written = 0;

function write(at: number): Promise<SentWrite> {
  const body = JSON.stringify({ ...JSON.parse(bookText(at)), at });
  const sent = Date.now();
  return new Promise((resolve, reject) => {
    const sending = request(url, options, (response) => {
      const acknowledged = Date.now();
      if (response.statusCode !== 201) reject(new Error(`A write got ${response.statusCode}`));
      response.resume().once("end", () => resolve({ at, sent, acknowledged }));
    });
    sending.once("error", reject).end(body);
  });
}

answerQuestion(() => {
  const start = performance.now();
  const writes = Array.from({ length: Number(seconds) * Number(perSecond) }, async (_, index) => {
    written += 1;
    const at = written;
    await sleep(Math.max(1, start + (index * 1_000) / Number(perSecond) - performance.now()));
    return write(at);
  });
  return Promise.all(writes);
});
process.stdout.write("{}\n");
