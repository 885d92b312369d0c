// Joins signals by hand: AbortSignal.any leaves an entry in each of them for every call, and some
// live as long as the process.

export interface JoinedSignal {
  readonly signal: AbortSignal;
  /** Must be called when what it was made for is over. */
  end(): void;
}

/** Aborted with the reason of whichever is aborted first. */
export function joinSignals(given: readonly (AbortSignal | undefined)[]): JoinedSignal {
  const controller = new AbortController();
  const signals = given.filter((signal) => signal !== undefined);
  const listeners = signals.map((signal) => ({ signal, follow: () => controller.abort(signal.reason) }));
  for (const { signal, follow } of listeners) {
    if (signal.aborted) follow();
    else signal.addEventListener("abort", follow, { once: true });
  }
  return {
    signal: controller.signal,
    end() {
      for (const { signal, follow } of listeners) signal.removeEventListener("abort", follow);
    },
  };
}

/** Rejects with the signal's reason when it is aborted before the work is done. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}
