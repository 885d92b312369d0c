// One kind of order that the operator gives to replicas about stored data, and that may take long:
// how it stands in Redis, and what replicas say of it. Of what another kind wrote, or a newer
// version, each reader says undefined.

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
