// Bounds connections and what waits on each, one request at a time. Answers what Node's parser or a
// time limit refuses with a problem: as the response to the request that it cuts short, or after
// the response to a complete one, or on its own. Closes connections that would take more memory
// than there is.

import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type ProblemResponse, problemResponse } from "../../core/http/problem-response.ts";
import type { MemoryShare } from "../admission/memory-budgets.ts";

export interface Connections {
  /**
   * Waits until all earlier responses of the connection have left the process: a client that reads
   * nothing would have them all in memory. False = the connection is closed, without an answer.
   */
  afterEarlierResponses(request: IncomingMessage): Promise<boolean> | undefined;
  /** Remembers the current request. The promise resolves when the rest of its body is refused. */
  track(request: IncomingMessage, response: ServerResponse): Promise<Error> | undefined;
  refuse(error: Error, socket: Socket): void;
  /**
   * The response to this request ends with its connection, perhaps in an hour: another request, or
   * one that waits already, closes the connection.
   */
  isLast(request: IncomingMessage): void;
  /** Remembers a connection until it closes. Where there are too many, closes an idle one. */
  opened(socket: Socket): void;
  /** Closes connections without a byte: browsers and load balancers open some in advance. */
  endSilent(): void;
}

/** A refusal that belongs to no request. */
export type ObserveRefusal = (requestId: string, response: ProblemResponse) => void;

/**
 * Why a connection is closed without a response: too many connections; too many requests waiting;
 * or unread responses that have no room in memory.
 */
export type ClosedFor = "too_many" | "pipelined" | "unread";

interface ConnectionsOptions {
  readonly observeRefusal: ObserveRefusal;
  readonly observeClosed: (reason: ClosedFor) => void;
  readonly maxConnections: number;
  /** For requests that wait for earlier responses. */
  readonly pipelined: MemoryShare;
}

interface UnderWay {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly cut: ((error: Error) => void) | undefined;
  /** Grows from request to request, over all connections. */
  readonly order: number;
}

type Proceed = (isOpen: boolean) => void;

const underWay = Symbol("under way");
const waitingRequests = Symbol("waiting");
const takesNoMore = Symbol("takes no more requests");

/** A connection with its last request: a WeakMap costs a hundredth of a small request. */
interface Carrier extends Socket {
  [underWay]?: UnderWay;
  /** Requests that wait for earlier responses. */
  [waitingRequests]?: Set<Proceed>;
  [takesNoMore]?: boolean;
  /** Node's, and not documented: called for each head; 2 = no HTTP follows. */
  readonly parser?: { onIncoming: () => number } | null;
}

/** Requests of one connection that may wait. */
export const maxPipelined = 32;
/** Measured: what Node and fastify keep of a request. */
const requestBytes = 8 * 1024;
/**
 * Node reads so much of a body in advance: a chunk that fills its buffer of 64 KiB may be as large.
 */
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
    socket[waitingRequests] ??= new Set();
    const waiting = socket[waitingRequests];
    if (socket.destroyed) return Promise.resolve(false);
    if (socket[takesNoMore] || waiting.size === maxPipelined || !options.pipelined.take(bytes)) {
      // A response would come after others, which the client may never read.
      close(socket, "pipelined");
      return Promise.resolve(false);
    }
    return new Promise((resolve) => {
      const proceed: Proceed = (isOpen) => {
        if (!waiting.delete(proceed)) return;
        options.pipelined.release(bytes);
        resolve(isOpen);
      };
      waiting.add(proceed);
      // RFC 9112 §9.6: behind a response that closes the connection, no request is carried out.
      before.once("close", () => proceed(socket.writable && before.shouldKeepAlive));
    });
  };

  return {
    afterEarlierResponses(request) {
      const socket = request.socket as Carrier;
      const before = socket[underWay]?.response;
      if (before === undefined || before.writableFinished) return undefined;
      const { "content-length": length, "transfer-encoding": coding } = request.headers;
      return wait(socket, before, (length ?? coding) ? requestBytes + unreadBodyBytes : requestBytes);
    },
    isLast(request) {
      const socket = request.socket as Carrier;
      socket[takesNoMore] = true;
      if (socket[waitingRequests]?.size) close(socket, "pipelined");
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
        for (const proceed of socket[waitingRequests] ?? []) proceed(false);
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
        // After the response to a complete request it is another request; the rest of a body gets
        // no second response.
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

/** The oldest connection without a complete head, or else the one whose last request is oldest. */
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

/** The id in the response and in the log: the client's own if it is harmless, else a new one. */
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
