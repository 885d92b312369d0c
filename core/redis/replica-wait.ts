// Waits until a Redis replica has a write: WAIT, on the connection that the write was sent over,
// since Redis counts what that connection has written. It holds up what comes after it there, so
// that such writes have a client of their own.

import { Cluster, type Redis } from "ioredis";
import { NotReplicated } from "../errors/store-errors.ts";
import { type CommandBatcher, TrackedCommand } from "./command.ts";
import type { IoredisClient } from "./connect.ts";
import { numberOf } from "./reply.ts";

/**
 * What it returns resolves once a Redis replica has what this command, which was answered, has
 * written. It rejects with NotReplicated when none has it within `withinMs`, or nobody can say.
 */
export function createReplicaWait(
  client: IoredisClient,
  batcher: CommandBatcher,
  withinMs: number,
): (command: TrackedCommand) => Promise<void> {
  /** The newest WAIT of each connection: it does for all commands that were sent before it. */
  const newest = new WeakMap<object, TrackedCommand>();

  const send = (socket: object): TrackedCommand => {
    const wait = new TrackedCommand({ name: "wait", args: [1, withinMs], keys: [] }, batcher);
    // Whoever waits for it is told; it may fail before.
    wait.promise.catch(() => undefined);
    void serverAt(client, socket)?.sendCommand(wait);
    newest.set(socket, wait);
    return wait;
  };

  return async ({ socket, place }) => {
    if (socket === undefined) throw new NotReplicated("The connection of a write is not known");
    const known = newest.get(socket);
    const wait = known !== undefined && known.place > place ? known : send(socket);
    // Over another connection it would say nothing.
    if (wait.socket !== socket) throw new NotReplicated("The connection of a write has ended");
    const replicas = await wait.promise.catch((cause: unknown) => {
      throw new NotReplicated("Redis did not say whether a replica has a write", { cause });
    });
    if (numberOf(replicas) < 1) throw new NotReplicated(`No Redis replica had a write within ${withinMs} ms`);
  };
}

function serverAt(client: IoredisClient, socket: object): Redis | undefined {
  const servers = client instanceof Cluster ? client.nodes("all") : [client];
  return servers.find(({ stream }) => stream === socket);
}
