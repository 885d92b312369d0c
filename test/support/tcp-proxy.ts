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
  /** Ends all connections at once, and passes everything on for new ones. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let dropping: { readonly direction: "requests" | "replies"; readonly asked: RegExp } | undefined;
  let noteDrop = (): void => undefined;
  let firstDrop = Promise.resolve();

  /** Connections of clients that asked since the drop began. */
  const asking = new Set<Socket>();

  const pass = (from: Socket, to: Socket, direction: "requests" | "replies") => {
    const client = direction === "requests" ? from : to;
    from.on("data", (chunk) => {
      if (direction === "requests" && dropping?.asked.test(chunk.toString("latin1"))) asking.add(client);
      if (dropping?.direction !== direction) to.write(chunk);
      else if (asking.has(client)) noteDrop();
    });
    from.on("close", () => to.destroy());
    from.on("error", () => to.destroy());
    sockets.add(from);
    from.once("close", () => sockets.delete(from));
  };

  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    pass(client, target, "requests");
    pass(target, client, "replies");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    dropping = undefined;
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
    cut,
    async stop() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
