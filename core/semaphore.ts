// A fair semaphore for work that is costly for everybody: so much of it at once, so much waiting, the rest refused at once
// with the error that its owner makes. A key that asks for much waits behind itself: permits go round the keys that wait, in the order of
// arrival within one, and when the waiting room is full, the key that fills it most makes room for others.

export interface Semaphore {
  /** Resolves with a permit, when it is this key's turn. Throws what `refusal` makes when too many wait already. */
  acquire(key: string): Promise<void>;
  /** Gives a permit back. */
  release(): void;
}

export interface SemaphoreState {
  readonly running: number;
  readonly waiting: number;
}

export interface SemaphoreOptions {
  readonly concurrency: number;
  /** For all keys together. */
  readonly maxWaiting: number;
  readonly refusal: () => Error;
  readonly observe?: (state: SemaphoreState) => void;
}

interface Waiting {
  go(): void;
  refuse(error: Error): void;
}

export function createSemaphore({ concurrency, maxWaiting, refusal, observe }: SemaphoreOptions): Semaphore {
  /** In the order in which keys are served; none is empty. */
  const queues = new Map<string, Waiting[]>();
  let running = 0;
  let waiting = 0;
  const report = (): void => observe?.({ running, waiting });

  const leave = (queue: Waiting[], key: string): void => {
    waiting -= 1;
    if (queue.length === 0) queues.delete(key);
  };
  /** True once somebody of a longer queue than `key`'s was sent away. */
  const makeRoomFor = (key: string): boolean => {
    const own = queues.get(key)?.length ?? 0;
    const [longest, queue] = [...queues].reduce(
      (most, each) => (each[1].length > most[1].length ? each : most),
      ["", []],
    );
    if (queue.length <= own + 1) return false;
    queue.pop()?.refuse(refusal());
    leave(queue, longest);
    return true;
  };
  const next = (): Waiting | undefined => {
    for (const [key, queue] of queues) {
      const first = queue.shift();
      // The others of this key wait until every other key had a turn.
      queues.delete(key);
      if (queue.length > 0) queues.set(key, queue);
      waiting -= 1;
      return first;
    }
    return undefined;
  };

  return {
    async acquire(key) {
      if (running < concurrency) {
        running += 1;
        report();
        return;
      }
      if (waiting >= maxWaiting && !makeRoomFor(key)) throw refusal();
      await new Promise<void>((go, refuse) => {
        const queue = queues.get(key) ?? [];
        queue.push({ go, refuse });
        queues.set(key, queue);
        waiting += 1;
        report();
      });
    },
    release() {
      const first = next();
      // The place is handed on rather than freed, so that nobody who comes now overtakes those who wait.
      if (first === undefined) running -= 1;
      else first.go();
      report();
    },
  };
}
