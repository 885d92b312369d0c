// Commands that know whether they were written to a connection, and a batcher that joins commands
// of one turn of the event loop into one write. ioredis asks a command for its bytes exactly when
// it writes them: all of this relies on that.

import { Command } from "ioredis";
import type { Script } from "./script.ts";

export type Argument = string | number;

interface Corkable {
  cork(): void;
  uncork(): void;
}

/**
 * Commands that wait for the end of the turn, or for 16 of them. Redis starts on them while this
 * process handles the turn's other requests; if all were sent at the end of the turn, each of the
 * two would wait for the other.
 */
const maxCorked = 16;

/** Shared by one client's connections: which are corked, and which scripts each one knows. */
export class CommandBatcher {
  /** How many commands wait in each corked connection. */
  readonly #corked = new Map<Corkable, number>();
  readonly #known = new WeakMap<object, Set<string>>();
  #lastCalls: (() => void)[] = [];
  #endsLater = false;
  #places = 0;

  nextPlace(): number {
    this.#places += 1;
    return this.#places;
  }

  /** Call before a write to `socket`: corks it until the turn ends, or 16 commands wait. */
  cork(socket: object): void {
    if (!isCorkable(socket)) return;
    const corked = this.#corked.get(socket) ?? 0;
    if (corked > 0 && corked < maxCorked) {
      this.#corked.set(socket, corked + 1);
      return;
    }
    if (corked === maxCorked) socket.uncork();
    socket.cork();
    this.#corked.set(socket, 1);
    this.#endTurnLater();
  }

  /** Calls this after this turn's callbacks, and sends its writes with theirs. Must not throw. */
  atEndOfTurn(call: () => void): void {
    this.#lastCalls.push(call);
    this.#endTurnLater();
  }

  /** Sends what waits now. */
  sendNow(): void {
    for (const socket of this.#corked.keys()) socket.uncork();
    this.#corked.clear();
  }

  #endTurnLater(): void {
    if (this.#endsLater) return;
    this.#endsLater = true;
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    const calls = this.#lastCalls;
    this.#lastCalls = [];
    try {
      for (const call of calls) call();
    } finally {
      this.sendNow();
      this.#endsLater = false;
      if (this.#lastCalls.length > 0) this.#endTurnLater();
    }
  }

  /** True when the script was sent over this connection before; remembers that it is sent now. */
  knows(socket: object, script: Script): boolean {
    const known = this.#known.get(socket) ?? new Set<string>();
    this.#known.set(socket, known);
    if (known.has(script.sha)) return true;
    known.add(script.sha);
    return false;
  }
}

function isCorkable(socket: object): socket is Corkable {
  return "cork" in socket && "uncork" in socket;
}

export interface Call {
  readonly name: string;
  readonly args: readonly Argument[];
  /** The first one decides the slot in a Cluster; ioredis knows no module's commands. */
  readonly keys: readonly string[];
}

export class TrackedCommand extends Command {
  /** True once its bytes were handed to a connection: only then can it have had an effect. */
  sent = false;
  /** The connection that it was written to last. */
  socket: object | undefined;
  /** Grows with each command: of two on one connection, the server gets the lower one first. */
  place = 0;
  readonly #keys: string[];
  readonly #batcher: CommandBatcher;

  constructor(call: Call, batcher: CommandBatcher) {
    super(call.name, [...call.args], { replyEncoding: "utf8" });
    this.#keys = [...call.keys];
    this.#batcher = batcher;
  }

  override getKeys(): string[] {
    return this.#keys;
  }

  override toWritable(socket: object): string | Buffer {
    this.#batcher.cork(socket);
    // Given up while it waited for a connection: its caller was answered that nothing happened, and
    // ioredis has to write something that is answered once.
    if (this.isSettled) {
      this.name = "ping";
      this.args = [];
    } else {
      this.sent = true;
      this.socket = socket;
      this.place = this.#batcher.nextPlace();
    }
    return super.toWritable(socket);
  }
}

export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly Argument[];
}

/** Sends a script's text the first time over each connection, and its hash from then on. */
export class ScriptCommand extends TrackedCommand {
  readonly #script: Script;
  readonly #batcher: CommandBatcher;
  readonly #sendSource: boolean;

  /** `sendSource`: the server has just said that it doesn't know the hash. */
  constructor(call: ScriptCall, batcher: CommandBatcher, sendSource: boolean) {
    const args = [call.script.sha, call.keys.length, ...call.keys, ...call.args];
    super({ name: "evalsha", args, keys: call.keys }, batcher);
    this.#script = call.script;
    this.#batcher = batcher;
    this.#sendSource = sendSource;
  }

  override toWritable(socket: object): string | Buffer {
    const isKnown = this.#batcher.knows(socket, this.#script);
    const byHash = isKnown && !this.#sendSource;
    this.name = byHash ? "evalsha" : "eval";
    this.args[0] = byHash ? this.#script.sha : this.#script.lua;
    return super.toWritable(socket);
  }
}
