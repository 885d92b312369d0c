// Bounds connections and what waits on each, one request at a time. Responds to what Node's parser or a time limit refuses on a
// connection, in the shape of all other problems: as the response of the request that it cuts short, after the response of one that had
// arrived whole, or as a response of its own. Closes connections that would take more memory than there is.

import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type ProblemResponse, problemResponse } from "../../core/http/problem-response.ts";
import type { MemoryShare } from "../admission/memory-budgets.ts";

export interface Connections {
  /**
   * Waits until the responses to all earlier requests of the connection have left the process, where any has not: a client that sends
   * requests and reads nothing would have all their responses in memory. False = the request is not to be answered, its connection is closed.
   */
  turn(request: IncomingMessage): Promise<boolean> | undefined;
  /** Remembers the request that a connection carries now. The promise resolves when the rest of its body is refused. */
  track(request: IncomingMessage, response: ServerResponse): Promise<Error> | undefined;
  refuse(error: Error, socket: Socket): void;
  /** Remembers a new connection until it closes. When there are too many, one is closed that waits for a request, or else the new one. */
  opened(socket: Socket): void;
  /** Closes connections over which no byte has come: browsers and load balancers open some in advance. */
  endSilent(): void;
}

/** A refusal that belongs to no request. */
export type ObserveRefusal = (requestId: string, response: ProblemResponse) => void;

/**
 * Why a connection is closed without a response: there are too many; too many requests wait on it, or on all; or the client does not
 * read, and what it does not read has no room in memory.
 */
export type ClosedFor = "too_many" | "pipelined" | "unread";

interface ConnectionsOptions {
  readonly observeRefusal: ObserveRefusal;
  readonly observeClosed: (reason: ClosedFor) => void;
  readonly maxConnections: number;
  /** For requests that wait for their turn. */
  readonly pipelined: MemoryShare;
}

interface UnderWay {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly cut: ((error: Error) => void) | undefined;
  /** Grows from request to request, over all connections. */
  readonly order: number;
}

type Turn = (isOpen: boolean) => void;

const underWay = Symbol("under way");
const waitingTurn = Symbol("waiting");

/** A connection with the last request that it carried: a WeakMap costs a hundredth of a small request. */
interface Carrier extends Socket {
  [underWay]?: UnderWay;
  /** Requests that wait for their turn. */
  [waitingTurn]?: Set<Turn>;
  /** Node's, and not documented: what is called for each head, and says by 2 that no HTTP follows. */
  readonly parser?: { onIncoming: () => number } | null;
}

/** Requests of one connection that may wait for their turn. */
export const maxPipelined = 32;
/** Measured: what Node and fastify keep of a request. */
const requestBytes = 8 * 1024;
/** Node reads so much of a body before anybody wants it: the chunk that fills its buffer of 64 KiB may have as much. */
const unreadBodyBytes = 128 * 1024;

export function createConnections(options: ConnectionsOptions): Connections {
  const refused = new WeakSet<Socket>();
  const open = new Set<Carrier>();
  let requests = 0;

  const respond = (error: Error, socket: Socket): void => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const id = randomUUID();
    const problem = problemResponse(error, { path: "", requestId: id });
    socket.end(responseText(id, problem));
    options.observeRefusal(id, problem);
  };

  const close = (socket: Carrier, reason: ClosedFor): void => {
    options.observeClosed(reason);
    open.delete(socket);
    // Node parses a chunk to its end even then: two thousand requests, kept until the loop goes on.
    if (socket.parser) socket.parser.onIncoming = () => 2;
    socket.destroy();
  };

  const wait = (socket: Carrier, before: ServerResponse, bytes: number): Promise<boolean> => {
    socket[waitingTurn] ??= new Set();
    const waiting = socket[waitingTurn];
    if (socket.destroyed) return Promise.resolve(false);
    if (waiting.size === maxPipelined || !options.pipelined.take(bytes)) {
      // After the responses before it there would be one, but the client may never read them.
      close(socket, "pipelined");
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const turn: Turn = (isOpen) => {
        if (!waiting.delete(turn)) return;
        options.pipelined.release(bytes);
        resolve(isOpen);
      };
      waiting.add(turn);
      // RFC 9112 §9.6: behind a response that closes the connection, no request is carried out.
      before.once("close", () => turn(socket.writable && before.shouldKeepAlive));
    });
  };

  return {
    turn(request) {
      const socket = request.socket as Carrier;
      const before = socket[underWay]?.response;
      if (before === undefined || before.writableFinished) return undefined;
      const { "content-length": length, "transfer-encoding": coding } = request.headers;
      return wait(socket, before, (length ?? coding) ? requestBytes + unreadBodyBytes : requestBytes);
    },
    opened(socket: Carrier) {
      if (open.size >= options.maxConnections) {
        const idle = firstIdle(open);
        close(idle ?? socket, "too_many");
        if (idle === undefined) return;
      }
      open.add(socket);
      socket.once("close", () => {
        open.delete(socket);
        // A response that was never assigned the socket emits no close.
        for (const turn of socket[waitingTurn] ?? []) turn(false);
      });
    },
    endSilent() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    },
    track(request, response) {
      const { headers } = request;
      const hasBody = headers["content-length"] !== undefined || "transfer-encoding" in headers;
      const body = hasBody ? Promise.withResolvers<Error>() : undefined;
      (request.socket as Carrier)[underWay] = { request, response, cut: body?.resolve, order: requests++ };
      return body?.promise;
    },
    refuse(error, socket) {
      // The parser repeats its refusal for every further byte.
      if (refused.has(socket)) return;
      refused.add(socket);
      const current = (socket as Carrier)[underWay];
      if (!current) respond(error, socket);
      else if (current.response.writableEnded) {
        // What is refused after the response of a whole request is another request; the rest of a body gets no second response.
        if (current.request.complete) respond(error, socket);
        else socket.destroy();
      } else if (current.request.complete) {
        current.response.once("close", () => respond(error, socket));
      } else {
        current.response.shouldKeepAlive = false;
        current.cut?.(error);
      }
    },
  };
}

/** The oldest connection that has carried no whole head, or else that between two requests whose last one is the oldest. */
function firstIdle(open: Iterable<Carrier>): Carrier | undefined {
  let idle: Carrier | undefined;
  let idleSince = Number.POSITIVE_INFINITY;
  for (const socket of open) {
    const last = socket[underWay];
    if (last === undefined) return socket;
    if (last.order > idleSince || !last.response.writableFinished || !last.request.complete) continue;
    idle = socket;
    idleSince = last.order;
  }
  return idle;
}

const harmless = /^[A-Za-z0-9._-]{1,128}$/;

/** What a request is known by in its response and in the log: the client's own id when it is harmless, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && harmless.test(sent) ? sent : randomUUID();
}

function responseText(id: string, problem: ProblemResponse): string {
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ""}`,
    `X-Request-Id: ${id}`,
    "Vary: Authorization, Origin",
    "Cache-Control: no-store",
    "Content-Type: application/problem+json",
    "X-Content-Type-Options: nosniff",
    `Content-Length: ${Buffer.byteLength(problem.text)}`,
    `Date: ${new Date().toUTCString()}`,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${problem.text}`;
}
