// A TCP proxy in front of a server of this machine that can lose what passes through it, for tests of connections that end at
// a bad moment.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /** From now on nothing is passed on in that direction; what arrives is dropped. `asked` = what the requests in question hold. */
  drop(direction: "requests" | "replies", asked?: RegExp): void;
  /** Resolves once something was dropped on a connection where it was asked for. */
  dropped(): Promise<void>;
  /** From now on nothing is passed on, and nothing is lost; new connections wait as well. */
  hold(): void;
  /** Passes on what was held, in order. */
  release(): void;
  /** Connections that are there now pass nothing any more, for good, and nobody is told; new ones work. */
  abandon(): void;
  /** Ends all connections at once, and passes everything on for new ones. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let dropping: { readonly direction: "requests" | "replies"; readonly asked: RegExp } | undefined;
  let noteDrop = (): void => undefined;
  let firstDrop = Promise.resolve();

  let held = false;
  const abandoned = new Set<Socket>();
  const clients = new Set<Socket>();

  /** Connections of clients that asked since the drop began. */
  const asking = new Set<Socket>();

  const pass = (from: Socket, to: Socket, direction: "requests" | "replies") => {
    const client = direction === "requests" ? from : to;
    const forward = (chunk: Buffer): void => {
      if (direction === "requests" && dropping?.asked.test(chunk.toString("latin1"))) asking.add(client);
      if (dropping?.direction !== direction) to.write(chunk);
      else if (asking.has(client)) noteDrop();
    };
    from.on("data", (chunk: Buffer) => {
      if (!abandoned.has(client)) forward(chunk);
    });
    // What an abandoned connection's other end does, nobody hears.
    const end = () => void (abandoned.has(client) || to.destroy());
    from.on("close", end);
    from.on("error", end);
    if (held) from.pause();
    sockets.add(from);
    from.once("close", () => sockets.delete(from));
  };

  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    clients.add(client);
    client.once("close", () => clients.delete(client));
    pass(client, target, "requests");
    pass(target, client, "replies");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    dropping = undefined;
    held = false;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    drop(direction, asked = /^/) {
      asking.clear();
      dropping = { direction, asked };
      firstDrop = new Promise((resolve) => {
        noteDrop = resolve;
      });
    },
    dropped: () => firstDrop,
    hold() {
      held = true;
      for (const socket of sockets) socket.pause();
    },
    release() {
      held = false;
      for (const socket of sockets) socket.resume();
    },
    abandon() {
      for (const client of clients) abandoned.add(client);
    },
    cut,
    async stop() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
