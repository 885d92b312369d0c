// Sends commands and scripts to Redis, each at most once, and turns every failure into an error of
// the port. Only a script that Redis did not know by its hash is sent again: that refusal had no
// effect.

import { Cluster } from "ioredis";
import { StoreUnavailable } from "../errors/store-errors.ts";
import { type Argument, type Call, CommandBatcher, ScriptCommand, TrackedCommand } from "./command.ts";
import { type IoredisClient, isReady } from "./connect.ts";
import { failureOf, isForbidden, isUnknownScript, RedisFault } from "./failure.ts";
import { type Primary, primariesOf, primaryOfSlot } from "./primaries.ts";
import { createReplicaWait } from "./replica-wait.ts";
import type { Script } from "./script.ts";

export interface RedisClient {
  /** A command that changes nothing; `key` decides the slot. */
  read(key: string, name: string, ...args: readonly Argument[]): Promise<unknown>;
  /**
   * A read of several keys of one slot. In a Cluster, MOVED, ASK and TRYAGAIN end it, which says
   * nothing about any of the keys: while their slot moves, each may be on another node.
   */
  readMany(keys: readonly string[], name: string, ...args: readonly Argument[]): Promise<unknown>;
  /** A command that writes; `args` hold `key` where the command wants it. */
  write(key: string, name: string, ...args: readonly Argument[]): Promise<unknown>;
  run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown>;
  /** Calls this after this turn's callbacks; its commands are sent with theirs. Must not throw. */
  atEndOfTurn(call: () => void): void;
  /** Sends this turn's commands now: the server begins while the turn goes on. */
  sendNow(): void;
  /** The servers that hold what is stored, as they are known now; none while Redis is away. */
  primaries(): readonly Primary[];
  /**
   * The name of the primary of this key: keys with the same one are refused, or are away, together.
   */
  primaryOf(key: string): string;
  /** True when a command could be sent now. */
  ready(): boolean;
  /** Ends the connections immediately. */
  disconnect(): void;
}

/**
 * Over the connection of an ioredis client. `canSend`: whether a command may be sent now; by
 * default when there is a connection. `replicatedWithinMs`: writes wait so long for a Redis replica
 * to have them (replica-wait.ts); by default they don't.
 */
export function createRedisClient(
  client: IoredisClient,
  canSend: () => boolean = () => isReady(client),
  replicatedWithinMs?: number,
): RedisClient {
  const batcher = new CommandBatcher();
  const untilReplicated =
    replicatedWithinMs === undefined ? undefined : createReplicaWait(client, batcher, replicatedWithinMs);

  const follow = (command: TrackedCommand): unknown => client.sendCommand(command);
  /** ioredis follows the redirections of a Cluster only where it chose the node itself. */
  const doNotFollow = (command: TrackedCommand): unknown =>
    client instanceof Cluster ? client.sendCommand(command, undefined, { slot: command.getSlot() }) : follow(command);

  const send = async (
    command: TrackedCommand,
    what: string,
    kind: Script["kind"],
    dispatch: (command: TrackedCommand) => unknown = follow,
  ): Promise<unknown> => {
    try {
      if (!canSend()) throw new StoreUnavailable(`Redis is away; ${what} was not sent`);
      const reply = await dispatch(command);
      if (untilReplicated !== undefined && kind === "write") await untilReplicated(command);
      return reply;
    } catch (error) {
      throw failureOf(error, { what, kind, sent: command.sent });
    }
  };

  const single = (kind: Script["kind"], call: Call) => send(new TrackedCommand(call, batcher), call.name, kind);

  return {
    read: (key, name, ...args) => single("read", { name, args, keys: [key] }),
    readMany: (keys, name, ...args) =>
      send(new TrackedCommand({ name, args, keys }, batcher), name, "read", doNotFollow),
    atEndOfTurn: (call) => batcher.atEndOfTurn(call),
    sendNow: () => batcher.sendNow(),
    write: (key, name, ...args) => single("write", { name, args, keys: [key] }),
    async run(script, keys, args) {
      const { name, kind } = script;
      const call = { script, keys, args };
      const command = new ScriptCommand(call, batcher, false);
      try {
        if (!canSend()) throw new StoreUnavailable(`Redis is away; ${name} was not sent`);
        const reply = await client.sendCommand(command);
        if (untilReplicated !== undefined && kind === "write") await untilReplicated(command);
        return reply;
      } catch (error) {
        if (!isUnknownScript(error)) throw failureOf(error, { what: name, kind, sent: command.sent });
      }
      return await send(new ScriptCommand(call, batcher, true), name, kind);
    },
    primaries: () => primariesOf(client),
    primaryOf: (key) =>
      primaryOfSlot(client, new TrackedCommand({ name: "get", args: [], keys: [key] }, batcher).getSlot()),
    ready: canSend,
    disconnect: () => client.disconnect(),
  };
}

/** Never written. */
const key = "jp:{probe}:json";

/**
 * Throws RedisFault with the code NOJSON. NOPERM shows that the module is loaded: Redis looks up
 * the command before it checks rights.
 */
export async function requireJson(redisClient: RedisClient): Promise<void> {
  try {
    await redisClient.read(key, "JSON.TYPE", key);
  } catch (cause) {
    if (isForbidden(cause)) return;
    if (!(cause instanceof RedisFault)) throw cause;
    throw new RedisFault("This Redis has no JSON module: load RedisJSON, or use a Redis that includes it", {
      code: "NOJSON",
      cause,
    });
  }
}
