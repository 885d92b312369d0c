// Follows changes over many connections, and answers with what came: the number of events, and of
// some connections the number in each event's field `at`, with the milliseconds of Unix time at
// which it came. It shares the cores
// with what it measures, so it has no HTTP parser, and counts the blank lines that end events.
// Arguments: URL, Authorization, streams.

import { connect } from "node:net";
import { answerQuestion } from "./processes.ts";

const [url = "", authorization = "", count = "1"] = process.argv.slice(2);
const { hostname, port, pathname, host } = new URL(url);
const head = [
  `GET ${pathname} HTTP/1.1`,
  `Host: ${host}`,
  `Authorization: ${authorization}`,
  "Accept: text/event-stream",
  "\r\n",
].join("\r\n");
/** Events of one stream in so many are timed. The others are read seldom: the system keeps them. */
const timedEvery = 10;
const seldomMs = 250;
const stamp = /"at":(\d+)/g;
/** One for all streams: each uses what it has read before another one reads. */
const buffer = Buffer.alloc(256 * 1024);
let timed: (readonly [at: number, came: number])[] = [];
let events = 0;
let open = 0;

function follow(at: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let endsInLine = false;
    const isTimed = at % timedEvery === 0;
    let use = (bytes: Buffer): void => {
      if (!bytes.includes("HTTP/1.1 200 ")) reject(new Error(`A stream was refused: ${bytes}`));
      open += 1;
      use = isTimed ? measure : () => undefined;
      resolve();
    };
    const callback = (length: number): boolean => {
      const bytes = buffer.subarray(0, length);
      events += blankLinesIn(bytes) + Number(endsInLine && bytes[0] === 10);
      endsInLine = bytes.at(-1) === 10 && bytes.at(-2) !== 10;
      use(bytes);
      // False pauses it.
      return isTimed;
    };
    const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback } });
    socket.once("error", reject).write(head);
    if (!isTimed) setInterval(() => socket.resume(), seldomMs);
  });
}

function measure(bytes: Buffer): void {
  const now = Date.now();
  for (const [, at] of bytes.toString("latin1").matchAll(stamp)) timed.push([Number(at), now]);
}

function blankLinesIn(bytes: Buffer): number {
  let found = 0;
  for (let place = bytes.indexOf("\n\n"); place >= 0; place = bytes.indexOf("\n\n", place + 2)) found += 1;
  return found;
}

for (let made = 0; made < Number(count); made += 50) {
  await Promise.all(Array.from({ length: Math.min(50, Number(count) - made) }, (_, at) => follow(made + at)));
}
answerQuestion(() => {
  const seen = { timed, events };
  timed = [];
  events = 0;
  return seen;
});
process.stdout.write(`${JSON.stringify({ open })}\n`);
