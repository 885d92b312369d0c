// Watches whether Redis still has the stored data: every second, and on each new connection of the
// store before that is used. A failed read leaves the last answer: requests fail by themselves
// meanwhile.

import { configKeys } from "../../core/config/config-keys.ts";
import { storeFields } from "../../core/config/store-fields.ts";
import { isForbidden } from "../../core/redis/failure.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { listOf, optionalText } from "../../core/redis/reply.ts";
import { repeatedly, type Timers } from "../../core/timers.ts";

export interface StoreWatch {
  /** Whether requests for data are to be refused. */
  isLost(): boolean;
  /** Redis has said so once; one that is empty since before this replica started says nothing. */
  hasChecked(): boolean;
  /** Reads now unless that was done. Rejects when Redis does not answer. */
  ensureChecked(): Promise<void>;
  /**
   * Reads now, and from then on, by the connection that data use: another one may lead to another
   * server. Rejects when that is not answered.
   */
  checkWith(read: RedisClient["read"]): Promise<void>;
  stop(): Promise<void>;
}

export interface StoreWatchDeps {
  /** Asked until the store has a connection of its own. */
  readonly commands: RedisClient;
  readonly timers: Timers;
  /** Called when data begin to be refused, and when they no longer are. */
  readonly onLoss?: ((loss: DataLoss | undefined) => void) | undefined;
  /** Called when the Redis user does not have the right to read this, and when it has. */
  readonly onForbidden?: ((forbidden: boolean) => void) | undefined;
}

/** `name` is absent until the operator has found it, too. */
export interface DataLoss {
  readonly name?: string;
}

const pollMs = 1_000;
/** Redis that was away may be another one when it comes back. */
const awayMs = 100;

export function watchStore({ commands, timers, onLoss, onForbidden }: StoreWatchDeps): StoreWatch {
  let isGuarded = false;
  let hasChecked = false;
  let loss: DataLoss | undefined;
  let forbidden = false;
  let { read } = commands;

  const found = async (): Promise<DataLoss | undefined | "nothing"> => {
    const { meta } = configKeys;
    const fields = [storeFields.id, storeFields.loss, storeFields.refusesLoss];
    const [id, name, refusesLoss] = listOf(await read(meta, "HMGET", meta, ...fields)).map(optionalText);
    // Emptied, and the operator has not been there yet. Whoever accepted an earlier loss has not
    // accepted this one.
    if (id === undefined && name === undefined) return isGuarded ? {} : "nothing";
    isGuarded = refusesLoss === "1";
    return name === undefined ? undefined : { name };
  };

  const recordAccess = (isRefused: boolean): void => {
    if (isRefused !== forbidden) onForbidden?.(isRefused);
    forbidden = isRefused;
  };

  const check = async (): Promise<void> => {
    const now = await found().catch((error: unknown) => {
      if (isForbidden(error)) recordAccess(true);
      throw error;
    });
    recordAccess(false);
    // It may have been emptied before this replica started: the first operator that writes to it
    // says what it is.
    if (now === "nothing") return;
    const isNews = now?.name !== loss?.name || (now === undefined) !== (loss === undefined);
    loss = now;
    hasChecked = true;
    if (isNews) onLoss?.(loss);
  };

  const { stop } = repeatedly(timers, () =>
    check().then(
      () => pollMs,
      () => awayMs,
    ),
  );

  return {
    isLost: () => loss !== undefined,
    hasChecked: () => hasChecked,
    ensureChecked: async () => {
      if (!hasChecked) await check();
    },
    async checkWith(storeRead) {
      read = storeRead;
      await check();
    },
    stop,
  };
}
