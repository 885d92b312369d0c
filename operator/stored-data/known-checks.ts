// The orders to check stored objects that stand, one for an ApiResource: read from Redis once,
// since only the leader changes them.

import { randomBytes } from "node:crypto";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { CheckOrder } from "../../core/config/object-check.ts";
import type { CheckOrders, CheckState } from "../publish/check-orders.ts";

export interface KnownCheck extends CheckOrder {
  readonly id: string;
  /** Of the Project. */
  readonly key: string;
}

export class KnownChecks {
  /** By UID of the ApiResource. */
  #known: Promise<Map<string, KnownCheck>> | undefined;

  async all(orders: CheckOrders): Promise<readonly KnownCheck[]> {
    return [...(await this.#read(orders)).values()];
  }

  async of(uid: string, orders: CheckOrders): Promise<KnownCheck | undefined> {
    return (await this.#read(orders)).get(uid);
  }

  async stateOf({ id }: KnownCheck, orders: CheckOrders): Promise<CheckState> {
    return (await orders.statesOf([id])).get(id) ?? { state: "lost" };
  }

  /** In the place of one that stands. */
  async order(order: CheckOrder, orders: CheckOrders): Promise<void> {
    const before = await this.of(order.uid, orders);
    if (before !== undefined) await this.forget(before, orders);
    // Never the same again, so that what a replica says late is about no other order.
    const id = `check:${order.uid}:${randomBytes(8).toString("hex")}`;
    await orders.order(id, order);
    (await this.#read(orders)).set(order.uid, knownCheck(id, order));
  }

  async forget({ id, uid }: KnownCheck, orders: CheckOrders): Promise<void> {
    await orders.forget(id);
    (await this.#read(orders)).delete(uid);
  }

  #read(orders: CheckOrders): Promise<Map<string, KnownCheck>> {
    this.#known ??= orders.all().then(
      (all) => new Map(Array.from(all, ([id, order]) => [order.uid, knownCheck(id, order)])),
      (error: unknown) => {
        this.#known = undefined;
        throw error;
      },
    );
    return this.#known;
  }
}

function knownCheck(id: string, order: CheckOrder): KnownCheck {
  return { ...order, id, key: keyOfProject(order.project) };
}
