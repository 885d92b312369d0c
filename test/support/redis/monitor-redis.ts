// Follows the commands that a Redis of this machine receives, by MONITOR over a connection of its
// own. ioredis's monitor() fails with "Command queue state error" when the first command arrives
// together with the reply to MONITOR. https://redis.io/docs/latest/commands/monitor/

import { connect } from "node:net";

export interface SentCommand {
  /**
   * The command's name and arguments; a byte that isn't printable ASCII stays as Redis prints it,
   * as \xff.
   */
  readonly args: readonly string[];
  /** The client's address and port, or "lua" for a command of a script. */
  readonly source: string;
}

export interface RedisMonitor {
  /** Ends the connection; no further command is passed on. */
  stop(): void;
}

/**
 * Resolves once Redis has confirmed: `received` is called with whatever it receives afterwards.
 * Rejects when the connection fails or ends before.
 */
export function monitorRedis(port: number, received: (command: SentCommand) => void): Promise<RedisMonitor> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const stop = () => socket.destroy();
    const read = (line: string) => {
      if (socket.destroyed) return;
      if (line === "+OK") resolve({ stop });
      else if (line.startsWith("+")) received(parseCommand(line));
      else socket.destroy(new Error(`Redis refused MONITOR: ${line}`));
    };
    let rest = "";
    socket.setEncoding("latin1");
    socket.on("connect", () => socket.write("MONITOR\r\n"));
    socket.on("data", (chunk) => {
      const lines = (rest + chunk).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) read(line);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`Port ${port} closed the connection`)));
  });
}

/**
 * From a line such as `+1795877043.444738 [0 127.0.0.1:55432] "SET" "key" "a \"quoted\" value"`.
 */
function parseCommand(line: string): SentCommand {
  const source = /\[\d+ (\S+)\]/.exec(line)?.[1] ?? "";
  const args = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) => text.replace(/\\(["\\])/g, "$1"));
  return { source, args };
}
