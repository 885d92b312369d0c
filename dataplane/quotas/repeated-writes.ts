// A repetition never hears that a quota is full because of what its first request wrote: it waits for the first when both are under
// way in this replica, and before it is refused it looks for the receipt that the first left, wherever that was written.

import { Problem } from "../../core/errors/problem.ts";
import { createInOrder } from "../../core/in-order.ts";
import type { CollectionRef, DocumentRef, Receipt, ReceiptStore, Repeated } from "../store/port.ts";

/** Carries out `write`, which may refuse with 403 `quota_exceeded`. */
export type RepeatableWrite = <T>(
  of: CollectionRef | DocumentRef,
  receipt: Receipt | undefined,
  write: () => Promise<T>,
) => Promise<T | Repeated>;

export function createRepeatableWrite(store: ReceiptStore): RepeatableWrite {
  /** By the receipt's key. */
  const inOrder = createInOrder();
  return async (of, receipt, write) => {
    if (receipt === undefined) return write();
    try {
      return await inOrder.take(receipt.key, write);
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
