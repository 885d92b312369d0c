// Follows changes over many connections, and answers with what came: the number of events, and for
// each the milliseconds since the time in its field `at`. Arguments: URL, Authorization, streams.

import { request } from "node:http";
import { answerQuestion } from "./processes.ts";

const [url = "", authorization = "", count = "1"] = process.argv.slice(2);
let delays: number[] = [];
let open = 0;

const stamp = /"at":([\d.]+)/g;

function follow(): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization, accept: "text/event-stream" };
    const sent = request(url, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`A stream was answered with ${response.statusCode}`));
      response.setEncoding("latin1");
      response.on("data", (text: string) => {
        const now = Date.now();
        for (const [, at] of text.matchAll(stamp)) delays.push(now - Number(at));
      });
      open += 1;
      resolve();
    });
    sent.once("error", reject).end();
  });
}

for (let made = 0; made < Number(count); made += 50) {
  await Promise.all(Array.from({ length: Math.min(50, Number(count) - made) }, follow));
}
answerQuestion(() => {
  const seen = delays;
  delays = [];
  return seen;
});
process.stdout.write(`${JSON.stringify({ open })}\n`);
