// Sends one inline command to a Redis of this machine over a connection of its own and returns the
// raw reply's text. For the few commands that tests need before there is a client; refuses when the
// connection fails or ends without a reply.

import { connect } from "node:net";

export function askRedis(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let reply = "";
    socket.setEncoding("utf8");
    socket.setTimeout(30_000, () => socket.destroy(new Error(`No reply to ${command} from port ${port}`)));
    socket.on("connect", () => socket.write(`${command}\r\n`));
    socket.on("data", (chunk) => {
      reply += chunk;
      if (isWhole(reply)) socket.end();
    });
    socket.on("error", reject);
    socket.on("close", () =>
      isWhole(reply) ? resolve(reply) : reject(new Error(`Port ${port} closed the connection`)),
    );
  });
}

/** A status, error or number is one line; a bulk string says its length in the first. */
function isWhole(reply: string): boolean {
  const end = reply.indexOf("\r\n");
  if (end < 0) return false;
  if (!reply.startsWith("$")) return true;
  const length = Number(reply.slice(1, end));
  // Nothing is there.
  if (length < 0) return true;
  return Buffer.byteLength(reply) >= end + 2 + length + 2;
}
