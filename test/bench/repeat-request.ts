// Sends one request again and again over some connections, as fast as it is answered. It is a
// process of its own, so that large requests take no time of the process that measures. Arguments:
// a file with the raw request, host, port, connections. Answers with the number of responses by
// status.

import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { answerQuestion } from "./processes.ts";

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
answerQuestion(() => Object.fromEntries(answered));
process.stdout.write("{}\n");
