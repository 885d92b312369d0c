// Responds to what Node's parser or a time limit refuses on a connection, in the shape of all other problems: as the response of the
// request that it cuts short, after the response of one that had arrived whole, or as a response of its own.

import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type ProblemResponse, problemResponse } from "../../core/http/problem-response.ts";

export interface Connections {
  /** Remembers the request that a connection carries now. The promise resolves when the rest of its body is refused. */
  track(request: IncomingMessage, response: ServerResponse): Promise<Error> | undefined;
  refuse(error: Error, socket: Socket): void;
  /** Remembers a new connection until it closes. */
  opened(socket: Socket): void;
  /** Closes connections over which no byte has come: browsers and load balancers open some in advance. */
  endSilent(): void;
}

/** A refusal that belongs to no request. */
export type ObserveRefusal = (requestId: string, response: ProblemResponse) => void;

interface UnderWay {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly cut: ((error: Error) => void) | undefined;
}

const underWay = Symbol("under way");

/** A connection with the last request that it carried: a WeakMap costs a hundredth of a small request. */
interface Carrier extends Socket {
  [underWay]?: UnderWay;
}

export function createConnections(observe: ObserveRefusal): Connections {
  const refused = new WeakSet<Socket>();
  const open = new Set<Socket>();

  const respond = (error: Error, socket: Socket): void => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const id = randomUUID();
    const problem = problemResponse(error, { path: "", requestId: id });
    socket.end(responseText(id, problem));
    observe(id, problem);
  };

  return {
    opened(socket) {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    },
    endSilent() {
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    },
    track(request, response) {
      const hasBody = request.headers["content-length"] !== undefined || "transfer-encoding" in request.headers;
      const body = hasBody ? Promise.withResolvers<Error>() : undefined;
      (request.socket as Carrier)[underWay] = { request, response, cut: body?.resolve };
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
