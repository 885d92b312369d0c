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
  const lines = new Map<string, Waiting[]>();
  let running = 0;
  let waiting = 0;
  const report = (): void => observe?.({ running, waiting });

  const leave = (line: Waiting[], key: string): void => {
    waiting -= 1;
    if (line.length === 0) lines.delete(key);
  };
  /** True once somebody of a longer line than `key`'s was sent away. */
  const makeRoomFor = (key: string): boolean => {
    const own = lines.get(key)?.length ?? 0;
    const [longest, line] = [...lines].reduce(
      (most, each) => (each[1].length > most[1].length ? each : most),
      ["", []],
    );
    if (line.length <= own + 1) return false;
    line.pop()?.refuse(refusal());
    leave(line, longest);
    return true;
  };
  const next = (): Waiting | undefined => {
    for (const [key, line] of lines) {
      const first = line.shift();
      // The others of this key wait until every other key had a turn.
      lines.delete(key);
      if (line.length > 0) lines.set(key, line);
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
        const line = lines.get(key) ?? [];
        line.push({ go, refuse });
        lines.set(key, line);
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
