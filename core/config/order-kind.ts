// One kind of order that the operator gives to replicas about stored data, and that may take long:
// how it stands in Redis, and what replicas say of it. Of what another kind wrote, or a newer
// version, each reader says undefined.

import { parseOrUndefined } from "../json/parse-or-undefined.ts";
import type { ProjectRef } from "./types.ts";

export interface OrderKind<Order, Progress, Result> {
  /** Ids of its orders begin with it. */
  readonly what: string;
  /** Hash: id of an order → how far a replica has come with it. */
  readonly progressKey: string;
  /** String with expiry: the replica that carries out orders of this kind now. */
  readonly lockKey: string;
  write(order: Order): string;
  read(text: string): Order | undefined;
  readProgress(text: string): Progress | undefined;
  readResult(text: string): Result | undefined;
}

interface Checks<Order, Progress, Result>
  extends Pick<OrderKind<Order, Progress, Result>, "what" | "progressKey" | "lockKey"> {
  /** Whether all members are there; `project` was looked at. */
  isOrder(read: Partial<Order>): boolean;
  isProgress(read: Partial<Progress>): boolean;
  /** `endedAt` was looked at. */
  isResult(read: Partial<Result>): boolean;
}

/** All of it is JSON. */
export function orderKind<
  Order extends { readonly project: ProjectRef },
  Progress extends object,
  Result extends object,
>(checks: Checks<Order, Progress, Result>): OrderKind<Order, Progress, Result> {
  const { what, progressKey, lockKey, isOrder, isProgress, isResult } = checks;
  return {
    ...{ what, progressKey, lockKey },
    write: (order) => JSON.stringify({ what, ...order }),
    read(text) {
      const { what: written, ...order } = membersOf<Order & { readonly what?: unknown }>(text);
      const { namespace, name } = (order as Partial<Order>).project ?? {};
      const isOfThis = written === what && typeof namespace === "string" && typeof name === "string";
      return isOfThis && isOrder(order as Partial<Order>) ? (order as unknown as Order) : undefined;
    },
    readProgress(text) {
      const read = membersOf<Progress>(text);
      return isProgress(read) ? (read as Progress) : undefined;
    },
    readResult(text) {
      const read = membersOf<Result & { readonly endedAt: unknown }>(text);
      return typeof read.endedAt === "number" && isResult(read as Partial<Result>) ? (read as Result) : undefined;
    },
  };
}

function membersOf<T extends object>(text: string): Partial<T> {
  return (parseOrUndefined(text) as Partial<T> | null | undefined) ?? {};
}
