// Work that goes on side by side under names, one piece at a time under each: what stands still holds up only what has its name. A piece
// whose name is busy is not started; whoever starts it comes again anyway.

export interface Lanes {
  /** `work` never rejects. */
  start(name: string, work: () => Promise<void>): void;
  /** Resolves when all that was started is over. */
  idle(): Promise<void>;
}

export function createLanes(): Lanes {
  const busy = new Map<string, Promise<void>>();
  return {
    start(name, work) {
      if (busy.has(name)) return;
      const working = work().finally(() => busy.delete(name));
      busy.set(name, working);
    },
    async idle() {
      await Promise.all(busy.values());
    },
  };
}
