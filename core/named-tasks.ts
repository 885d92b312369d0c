// Tasks that run concurrently, one at a time under each name: one that hangs delays only its own
// name. A task whose name is busy is not started: its caller tries again later.

export interface NamedTasks {
  /** `work` never rejects. */
  start(name: string, work: () => Promise<void>): void;
  /** Resolves when all that was started is over. */
  idle(): Promise<void>;
}

export function createNamedTasks(): NamedTasks {
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
