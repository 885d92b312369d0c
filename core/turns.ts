// A bounded queue for work that is costly for everybody: so much of it at once, so much waiting, the rest refused at once
// with the error that its owner makes.

export interface Turns {
  /** Resolves when it is the caller's turn, in order of arrival. Throws what `refusal` makes when too many wait already. */
  take(): Promise<void>;
  /** Ends a turn that was taken. */
  give(): void;
}

export interface TurnsState {
  readonly running: number;
  readonly waiting: number;
}

export interface TurnsOptions {
  readonly concurrency: number;
  readonly maxWaiting: number;
  readonly refusal: () => Error;
  readonly observe?: (state: TurnsState) => void;
}

export function createTurns({ concurrency, maxWaiting, refusal, observe }: TurnsOptions): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  const report = (): void => observe?.({ running, waiting: waiting.length });

  return {
    async take() {
      if (running < concurrency) {
        running += 1;
        report();
        return;
      }
      if (waiting.length >= maxWaiting) throw refusal();
      await new Promise<void>((go) => {
        waiting.push(go);
        report();
      });
    },
    give() {
      const next = waiting.shift();
      // The place is handed on rather than freed, so that nobody who comes now overtakes those who wait.
      if (next === undefined) running -= 1;
      else next();
      report();
    },
  };
}
