// Speaks HTTP byte by byte over a socket of its own, for requests that no HTTP client would send.
// Resolves with everything that the server sent until it closed the connection; rejects when the
// connection breaks before a single byte arrived.

import { connect, type Socket } from "node:net";

export interface RawReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawConnection {
  write(bytes: string | Uint8Array): void;
  /** Half-closes: nothing more will be sent. */
  end(): void;
  /** Breaks the connection off. */
  destroy(): void;
  /** What arrived so far, as text. */
  received(): string;
  /** Resolves when the server has closed the connection, with everything it sent. */
  closed(): Promise<string>;
  /** Resolves once `text` has arrived. */
  arrived(text: string): Promise<void>;
}

export function openRaw(origin: string): RawConnection {
  const { hostname, port } = new URL(origin);
  const socket: Socket = connect(Number(port), hostname);
  socket.setEncoding("utf8");
  let received = "";
  let failure: Error | undefined;
  let closed = false;
  const watchers = new Set<() => void>();
  const notify = () => {
    for (const watcher of [...watchers]) watcher();
  };
  socket.on("data", (chunk: string) => {
    received += chunk;
    notify();
  });
  socket.on("error", (error) => {
    failure = error;
  });
  socket.on("close", () => {
    closed = true;
    notify();
  });
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (holds()) resolve();
        else if (closed) reject(failure ?? new Error(`The connection closed after: ${received}`));
        else return;
        watchers.delete(look);
      };
      watchers.add(look);
      look();
    });
  return {
    write: (bytes) => void socket.write(bytes),
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    received: () => received,
    async closed() {
      await until(() => closed && (received !== "" || failure === undefined));
      return received;
    },
    arrived: (text) => until(() => received.includes(text)),
  };
}

/** Sends `bytes` and returns the replies of the connection, which the server must close. */
export async function sendRaw(origin: string, bytes: string | Uint8Array): Promise<readonly RawReply[]> {
  const connection = openRaw(origin);
  connection.write(bytes);
  return parseReplies(await connection.closed());
}

/** Replies with a Content-Length, one after the other; 1xx and 204 have no body. */
export function parseReplies(text: string): readonly RawReply[] {
  const replies: RawReply[] = [];
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    const headEnd = rest.indexOf("\r\n\r\n");
    if (headEnd < 0) throw new Error(`Not a whole reply: ${rest.toString()}`);
    const [statusLine = "", ...lines] = rest.subarray(0, headEnd).toString().split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(statusLine.split(" ")[1]);
    const length = Number(headers["content-length"] ?? 0);
    replies.push({ status, headers, body: rest.subarray(headEnd + 4, headEnd + 4 + length).toString() });
    rest = rest.subarray(headEnd + 4 + length);
  }
  return replies;
}
