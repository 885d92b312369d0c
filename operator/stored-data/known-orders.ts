// The orders of one kind that stand, one for an object: read from Redis once in a writer session,
// since only the leader changes them.

import { randomBytes } from "node:crypto";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { CheckFigures, CheckOrder, CheckResult } from "../../core/config/object-check.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { OrderState, ReplicaOrders } from "../publish/replica-orders.ts";

interface OrderAbout {
  readonly project: ProjectRef;
  /** Of the object that it is about. */
  readonly uid: string;
}

export type Known<Order> = Order & {
  readonly id: string;
  /** Of the Project. */
  readonly key: string;
};

export type KnownCheck = Known<CheckOrder>;
export type KnownChecks = KnownOrders<CheckOrder, CheckFigures, CheckResult>;

export class KnownOrders<Order extends OrderAbout, Progress, Result> {
  readonly #what: string;
  /** By UID of the object. */
  #known: Promise<Map<string, Known<Order>>> | undefined;

  /** `what` = what ids of these orders begin with. */
  constructor(what: string) {
    this.#what = what;
  }

  /** With the next question. */
  readAgain(): void {
    this.#known = undefined;
  }

  async all(orders: Orders<Order, Progress, Result>): Promise<readonly Known<Order>[]> {
    return [...(await this.#read(orders)).values()];
  }

  async of(uid: string, orders: Orders<Order, Progress, Result>): Promise<Known<Order> | undefined> {
    return (await this.#read(orders)).get(uid);
  }

  async stateOf(
    { id }: { readonly id: string },
    orders: Orders<Order, Progress, Result>,
  ): Promise<OrderState<Progress, Result>> {
    return (await orders.statesOf([id])).get(id) ?? { state: "lost" };
  }

  /** In the place of one that stands. */
  async order(order: Order, orders: Orders<Order, Progress, Result>): Promise<void> {
    const before = await this.of(order.uid, orders);
    if (before !== undefined) await this.forget(before, orders);
    // Never the same again, so that what a replica says late is about no other order.
    const id = `${this.#what}:${order.uid}:${randomBytes(8).toString("hex")}`;
    await orders.order(id, order);
    (await this.#read(orders)).set(order.uid, known(id, order));
  }

  async forget(
    { id, uid }: { readonly id: string; readonly uid: string },
    orders: Orders<Order, Progress, Result>,
  ): Promise<void> {
    await orders.forget(id);
    (await this.#read(orders)).delete(uid);
  }

  #read(orders: Orders<Order, Progress, Result>): Promise<Map<string, Known<Order>>> {
    this.#known ??= orders.all().then(
      (all) => new Map(Array.from(all, ([id, order]) => [order.uid, known(id, order)])),
      (error: unknown) => {
        this.#known = undefined;
        throw error;
      },
    );
    return this.#known;
  }
}

type Orders<Order, Progress, Result> = ReplicaOrders<Order, Progress, Result>;

function known<Order extends OrderAbout>(id: string, order: Order): Known<Order> {
  return { ...order, id, key: keyOfProject(order.project) };
}
