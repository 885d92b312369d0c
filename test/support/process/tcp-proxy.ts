// A TCP proxy in front of a server of this machine that can lose what passes through it, for tests
// of connections that end at a bad moment.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  readonly port: number;
  /**
   * From now on nothing is passed on in that direction; what arrives is dropped. `asked` = what the
   * requests in question hold.
   */
  drop(direction: "requests" | "replies", asked?: RegExp): void;
  /**
   * From the first request on that holds this, its connection gets no replies: what was asked takes
   * place, and nobody hears of it.
   */
  dropRepliesTo(asked: RegExp): void;
  /** Resolves once something was dropped on a connection where it was asked for. */
  dropped(): Promise<void>;
  /**
   * From now on nothing is passed on, and nothing is lost; new connections wait as well. `of` =
   * only connections whose clients began with this, such as their name.
   */
  hold(of?: RegExp): void;
  /**
   * Holds back the next request that has this in it, and all that follows on its connection;
   * resolves once it does.
   */
  holdFrom(asked: RegExp): Promise<void>;
  /** Passes on what was held, in order, and waits for nothing to hold any more. */
  release(): void;
  /**
   * Connections that are there now pass nothing any more, for good, and nobody is notified; new
   * ones work.
   */
  abandon(): void;
  /** From now on new connections lead to another port; those that are there stay. */
  lead(port: number): void;
  /** Ends all connections at once, and passes everything on for new ones. */
  cut(): void;
  stop(): Promise<void>;
}

interface Dropping {
  readonly direction: "requests" | "replies";
  readonly asked: RegExp;
  /** Only on connections where it was asked for. */
  readonly onlyThere: boolean;
}

/** Within so much, a client of Redis says its name. */
const introLength = 256;
/** Characters of the longest pattern that is waited for: longer than a name of a script. */
const maxPatternLength = 100;

export async function startTcpProxy(firstTargetPort: number): Promise<TcpProxy> {
  let targetPort = firstTargetPort;
  const sockets = new Set<Socket>();
  let dropping: Dropping | undefined;
  let noteDrop = (): void => undefined;
  let firstDrop = Promise.resolve();

  let held: RegExp | undefined;
  let holdingFrom: { readonly asked: RegExp; readonly note: () => void } | undefined;
  const abandoned = new Set<Socket>();
  /** Clients with what they began with, and the server's end of each. */
  const clients = new Map<Socket, { intro: string; lately: string; readonly target: Socket }>();

  /** Whether this connection has to wait now; then neither of its ends is read. */
  const waits = (client: Socket): boolean => {
    const connection = clients.get(client);
    if (connection === undefined || !held?.test(connection.intro)) return false;
    client.pause();
    connection.target.pause();
    return true;
  };
  /**
   * What a client says first tells who it is; a part that has to wait is read once more afterwards.
   */
  const mustWait = (client: Socket, chunk: Buffer): boolean => {
    const connection = clients.get(client);
    if (connection === undefined || connection.intro.length >= introLength) return false;
    const before = connection.intro;
    connection.intro = before + chunk.toString("latin1");
    if (!waits(client)) return false;
    connection.intro = before;
    client.unshift(chunk);
    return true;
  };

  /**
   * A request may come in several parts: when the one that tells which it is has to wait, the
   * server waits for the rest of it.
   */
  const beginsHold = (client: Socket, chunk: Buffer): boolean => {
    const connection = clients.get(client);
    if (connection === undefined || holdingFrom === undefined) return false;
    const asked = connection.lately + chunk.toString("latin1");
    if (!holdingFrom.asked.test(asked)) {
      connection.lately = asked.slice(-maxPatternLength);
      return false;
    }
    connection.lately = "";
    client.pause();
    client.unshift(chunk);
    holdingFrom.note();
    holdingFrom = undefined;
    return true;
  };

  /** Connections of clients that asked since the drop began. */
  const asking = new Set<Socket>();

  const pass = (from: Socket, to: Socket, direction: "requests" | "replies") => {
    const client = direction === "requests" ? from : to;
    const forward = (chunk: Buffer): void => {
      if (direction === "requests" && dropping?.asked.test(chunk.toString("latin1"))) asking.add(client);
      if (dropping?.direction !== direction || (dropping.onlyThere && !asking.has(client))) to.write(chunk);
      else if (asking.has(client)) noteDrop();
    };
    from.on("data", (chunk: Buffer) => {
      if (abandoned.has(client)) return;
      if (direction === "requests" && (mustWait(client, chunk) || beginsHold(client, chunk))) return;
      forward(chunk);
    });
    // What an abandoned connection's other end does, nobody hears.
    const end = () => void (abandoned.has(client) || to.destroy());
    from.on("close", end);
    from.on("error", end);
    sockets.add(from);
    from.once("close", () => sockets.delete(from));
  };

  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    clients.set(client, { intro: "", lately: "", target });
    client.once("close", () => clients.delete(client));
    pass(client, target, "requests");
    pass(target, client, "replies");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    dropping = undefined;
    held = undefined;
    holdingFrom = undefined;
    for (const socket of sockets) socket.destroy();
  };
  const begin = (what: Dropping): void => {
    asking.clear();
    dropping = what;
    firstDrop = new Promise((resolve) => {
      noteDrop = resolve;
    });
  };
  return {
    port: (server.address() as AddressInfo).port,
    drop: (direction, asked = /^/) => begin({ direction, asked, onlyThere: false }),
    dropRepliesTo: (asked) => begin({ direction: "replies", asked, onlyThere: true }),
    dropped: () => firstDrop,
    hold(of = /^/) {
      held = of;
      for (const client of clients.keys()) waits(client);
    },
    holdFrom: (asked) =>
      new Promise((note) => {
        holdingFrom = { asked, note };
      }),
    release() {
      held = undefined;
      holdingFrom = undefined;
      for (const socket of sockets) socket.resume();
    },
    lead(port) {
      targetPort = port;
    },
    abandon() {
      for (const client of clients.keys()) abandoned.add(client);
    },
    cut,
    async stop() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
