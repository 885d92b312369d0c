// Thousands of TCP connections at once, for attacks: each is opened, sends what a test gives it,
// and what the server does with it is counted.

import { connect, type Socket } from "node:net";

export interface Crowd {
  /** Connections that the server has taken. */
  readonly opened: number;
  /** Connections that are still open. */
  open(): number;
  /** Writes to each that is open. */
  each(say: (socket: Socket, index: number) => void): void;
  /** First lines that the server sent, with how often. */
  statusLines(): Readonly<Record<string, number>>;
  /** Breaks all off. */
  leave(): void;
}

export interface CrowdOptions {
  /** What a new connection sends; nothing by default. */
  readonly hello?: string | Uint8Array;
  /** True never reads what the server sends. */
  readonly deaf?: boolean;
}

const openingAtOnce = 200;

export async function openCrowd(origin: string, count: number, options: CrowdOptions = {}): Promise<Crowd> {
  const { hostname, port } = new URL(origin);
  const open = new Set<Socket>();
  const lines = new Map<string, number>();
  let opened = 0;
  const openOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ port: Number(port), host: hostname });
      socket.on("error", (error) => {
        if (socket.connecting || !open.has(socket)) reject(error);
      });
      socket.once("connect", () => {
        opened += 1;
        open.add(socket);
        if (options.hello !== undefined) socket.write(options.hello);
        resolve();
      });
      socket.on("close", () => open.delete(socket));
      if (options.deaf) socket.pause();
      else countFirstLine(socket, lines);
    });
  for (let index = 0; index < count; index += openingAtOnce) {
    await Promise.all(Array.from({ length: Math.min(openingAtOnce, count - index) }, openOne));
  }
  return {
    opened,
    open: () => open.size,
    each(say) {
      let index = 0;
      for (const socket of open) {
        if (socket.writable) say(socket, index);
        index += 1;
      }
    },
    statusLines: () => Object.fromEntries(lines),
    leave() {
      for (const socket of open) socket.destroy();
    },
  };
}

function countFirstLine(socket: Socket, lines: Map<string, number>): void {
  socket.once("data", (chunk: Buffer) => {
    const line = chunk.toString("latin1").split("\r\n", 1)[0] ?? "";
    lines.set(line, (lines.get(line) ?? 0) + 1);
  });
  // What follows is read and forgotten.
  socket.on("data", () => undefined);
}
