// How a port closes: it answers what has arrived, waits for what is under way, and cuts off the rest after a time limit.

import type { Server } from "node:http";
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { maxWaitingConnections } from "./server.ts";

/** How often connections are looked at that had a request under way when the end began. */
const lookEveryMs = 50;

/**
 * Node closes idle connections once, when the end begins, and enforces no time limits from then on: a client that keeps its
 * connection after its answer, never ends its request or never reads its answer would hold the end up, some for good.
 */
export async function closeWithin(app: FastifyInstance, milliseconds: number): Promise<void> {
  await readArrived(app.server);
  // After the sockets were read: a connection whose request has just arrived is not idle.
  const closeIdle = (): void => app.server.closeIdleConnections();
  const idle = setInterval(() => setImmediate(closeIdle), lookEveryMs);
  const cut = setTimeout(() => app.server.closeAllConnections(), milliseconds);
  await app.close().finally(() => {
    clearInterval(idle);
    clearTimeout(cut);
  });
}

/** The rest of the turn of the event loop that runs, and a whole one. */
const turnsWithoutConnection = 2;
/** Enough for all that can wait to be accepted; clients that go on connecting don't hold the end up. */
const maxTurns = 2 * maxWaitingConnections;

/**
 * Resolves once the event loop has accepted the connections that waited for it, one in a turn, and read what has arrived over them and all
 * others. What is idle then has sent nothing. Node would close a connection whose request has arrived and was not read, and its client
 * couldn't tell whether the request was carried out.
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
