// Sends one request over and over, over so many connections, as fast as it is answered, whatever the answer is: from a process of its own, so
// that large requests take no time of the process that measures what happens beside them. Arguments: a file with the raw request, host, port,
// connections. Prints `{}` once it is under way, and answers the question `answered` with the number of answers by status.

import { readFileSync } from "node:fs";
import { connect } from "node:net";
import type { Question } from "./asked.ts";

const [file = "", host = "", port = "", connections = ""] = process.argv.slice(2);
const request = readFileSync(file);
const answered = new Map<string, number>();

function keepSending(): void {
  const socket = connect({ host, port: Number(port) });
  let arrived = "";
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    arrived += text;
    const headEnd = arrived.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = arrived.slice(0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (arrived.length < headEnd + 4 + length) return;
    arrived = "";
    const status = head.split(" ", 2)[1] ?? "";
    answered.set(status, (answered.get(status) ?? 0) + 1);
    socket.write(request);
  });
  socket.on("error", () => process.exit(1));
  socket.write(request);
}

for (let count = 0; count < Number(connections); count += 1) keepSending();
process.on("message", ({ id }: Question) => process.send?.({ id, answer: Object.fromEntries(answered) }));
process.once("disconnect", () => process.exit());
process.stdout.write("{}\n");
