// How a port closes: it answers what has arrived, waits for requests under way, and cuts off the
// rest after a time limit.

import type { Server } from "node:http";
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { maxWaitingConnections } from "./server.ts";

/** How often connections are checked that had a request under way when the end began. */
const checkEveryMs = 50;

/**
 * Node closes idle connections once, and enforces no time limits from then on: a client that keeps
 * its connection, or never ends its request, would delay the end, perhaps for good.
 */
export async function closeWithin(app: FastifyInstance, milliseconds: number): Promise<void> {
  await readArrived(app.server);
  // After the sockets were read: a connection whose request has just arrived is not idle.
  const closeIdle = (): void => app.server.closeIdleConnections();
  const idle = setInterval(() => setImmediate(closeIdle), checkEveryMs);
  const cut = setTimeout(() => app.server.closeAllConnections(), milliseconds);
  await app.close().finally(() => {
    clearInterval(idle);
    clearTimeout(cut);
  });
}

/** The rest of the current turn of the event loop, and a full one. */
const turnsWithoutConnection = 2;
/**
 * Enough for all that can wait to be accepted; clients that go on connecting don't delay the end.
 */
const maxTurns = 2 * maxWaitingConnections;

/**
 * Resolves once the event loop has accepted waiting connections and read what arrived over all of
 * them. Connections that are idle then have sent nothing. Node would close one whose request
 * arrived unread, and its client couldn't know whether it was carried out.
 */
async function readArrived(server: Server): Promise<void> {
  let quietTurns = 0;
  const accepted = (): void => {
    quietTurns = -1;
  };
  server.on("connection", accepted);
  for (let turn = 0; turn < maxTurns && quietTurns < turnsWithoutConnection; turn += 1) {
    await eventLoopTurn();
    quietTurns += 1;
  }
  server.off("connection", accepted);
}
