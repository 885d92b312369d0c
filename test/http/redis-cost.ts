// Counts what one HTTP request costs in Redis, exactly: a command belongs to the request in whose
// asynchronous context it was written, so that what a replica asks by itself is left out; what
// scripts do inside Redis, its own statistics tell.

import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { TrackedCommand } from "../../core/redis/command.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { eventually } from "../support/time/eventually.ts";

export interface RedisCost {
  /** Waits for Redis, one after the other: commands that are under way together are one. */
  readonly roundTrips: number;
  readonly commands: number;
  /** Commands that scripts sent, inside Redis. */
  readonly inScripts: number;
}

export interface RedisCosts {
  /** What the requests of `send` cost that carry the header `X-Request-Id: counted`. */
  of(send: () => Promise<unknown>): Promise<RedisCost>;
  stop(): void;
}

/** X-Request-Id of the requests that are counted. */
export const counted = "counted";

interface Count {
  roundTrips: number;
  commands: number;
  /** Of them, those sent to the servers whose statistics are read. */
  observed: number;
  outstanding: number;
}

const requestStarted = "http.server.request.start";

/**
 * `ports` = all servers of the store. Nothing but counted requests may send scripts to them
 * meanwhile.
 */
export function watchRedisCosts(ports: readonly number[]): RedisCosts {
  const context = new AsyncLocalStorage<Count>();
  let current: Count = emptyCount();
  const onRequest = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    if (request.headers["x-request-id"] === counted) context.enterWith(current);
  };
  subscribe(requestStarted, onRequest);
  const original = TrackedCommand.prototype.toWritable;
  TrackedCommand.prototype.toWritable = function (this: TrackedCommand, socket: object): string | Buffer {
    const count = context.getStore();
    if (count !== undefined) note(count, this, ports.includes((socket as Socket).remotePort ?? 0));
    return original.call(this, socket);
  };
  return {
    async of(send) {
      current = emptyCount();
      const before = await commandsOf(ports);
      await send();
      // An answer may be out before the last command is answered that its request caused.
      await eventually(() => {
        if (current.outstanding > 0) throw new Error("A command of the request is not answered yet");
      });
      const { roundTrips, commands, observed } = current;
      return { roundTrips, commands, inScripts: (await commandsOf(ports)) - before - observed };
    },
    stop() {
      unsubscribe(requestStarted, onRequest);
      TrackedCommand.prototype.toWritable = original;
    },
  };
}

function emptyCount(): Count {
  return { roundTrips: 0, commands: 0, observed: 0, outstanding: 0 };
}

function note(count: Count, command: TrackedCommand, observed: boolean): void {
  if (count.outstanding === 0) count.roundTrips += 1;
  count.outstanding += 1;
  count.commands += 1;
  if (observed) count.observed += 1;
  const answered = (): void => {
    count.outstanding -= 1;
  };
  command.promise.then(answered, answered);
}

/**
 * What clients send of their own accord to stay connected, and this file; no script of ours sends
 * any of it.
 */
const ofConnections = /^(cluster|client|config|command|info|ping|hello|auth|select|readonly)\b/;

async function commandsOf(ports: readonly number[]): Promise<number> {
  const texts = await Promise.all(ports.map((port) => askRedis(port, "INFO commandstats")));
  const calls = texts.flatMap((text) => [...text.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]);
  return calls.reduce((sum, [, name = "", times]) => (ofConnections.test(name) ? sum : sum + Number(times)), 0);
}
