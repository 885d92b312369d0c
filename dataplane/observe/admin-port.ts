// The admin port, open from the first moment on: a probe of a program that waits for Redis is answered that it lives and isn't ready,
// until what answers for good takes over.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";

export interface AdminPort {
  readonly url: string;
  /** From now on this answers. */
  takeOver(app: FastifyInstance): Promise<void>;
  close(): Promise<void>;
}

export interface AdminAddress {
  readonly host: string;
  readonly port: number;
}

/** Rejects when the port is taken. */
export async function openAdminPort({ host, port }: AdminAddress): Promise<AdminPort> {
  let answer = starting;
  const server = createServer((request, response) => answer(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    async takeOver(app) {
      await app.ready();
      answer = (request, response) => app.routing(request, response);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function starting(request: IncomingMessage, response: ServerResponse): void {
  const lives = request.url?.split("?")[0] === "/livez";
  response.writeHead(lives ? 200 : 503, { "content-type": "text/plain; charset=utf-8" });
  response.end(lives ? "ok\n" : "the program is starting\n");
}
