// Work under one key is done one at a time, in the order in which it came, whether what came before failed or not. Work under other keys
// does not wait for it.

export interface InOrder {
  take<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createInOrder(): InOrder {
  /** The end of what came last; never rejects. */
  const last = new Map<string, Promise<void>>();
  return {
    async take(key, work) {
      const before = last.get(key);
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      last.set(key, ended);
      try {
        if (before !== undefined) await before;
        return await work();
      } finally {
        end();
        if (last.get(key) === ended) last.delete(key);
      }
    },
  };
}
