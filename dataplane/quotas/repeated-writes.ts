// A repetition never hears that a quota is full because of what its first request wrote: it waits for the first when both are under
// way in this replica, and before it is refused it looks for the receipt that the first left, wherever that was written.

import { Problem } from "../../core/errors/problem.ts";
import type { CollectionRef, DocumentRef, Receipt, ReceiptStore, Repeated } from "../store/port.ts";

/** Carries out `write`, which may refuse with 403 `quota_exceeded`. */
export type RepeatableWrite = <T>(
  of: CollectionRef | DocumentRef,
  receipt: Receipt | undefined,
  write: () => Promise<T>,
) => Promise<T | Repeated>;

export function createRepeatableWrite(store: ReceiptStore): RepeatableWrite {
  /** By the receipt's key; never rejects. */
  const underWay = new Map<string, Promise<unknown>>();

  const inTurn = async <T>(key: string, write: () => Promise<T>): Promise<T> => {
    while (underWay.has(key)) await underWay.get(key);
    const writing = write();
    const ended = writing.catch(() => undefined).finally(() => underWay.delete(key));
    underWay.set(key, ended);
    return writing;
  };

  return async (of, receipt, write) => {
    if (receipt === undefined) return write();
    try {
      return await inTurn(receipt.key, write);
    } catch (error) {
      const first = isFull(error) ? await store.receipt(of, receipt.key) : undefined;
      if (first === undefined) throw error;
      return { outcome: "repeated", receipt: first };
    }
  };
}

function isFull(error: unknown): boolean {
  return error instanceof Problem && error.code === "quota_exceeded";
}
