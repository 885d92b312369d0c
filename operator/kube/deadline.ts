// One signal for a call: the caller's own and a time limit. Made by hand, because a signal that lives as long as the process
// would otherwise gather a dependant with every call.

export interface Deadline {
  readonly signal: AbortSignal;
  /** Rejects when the signal is aborted first. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Must be called when the call is over. */
  end(): void;
}

export function startDeadline(caller: AbortSignal | undefined, milliseconds: number | undefined): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const follow = (): void => controller.abort(caller?.reason);
  if (caller?.aborted) follow();
  caller?.addEventListener("abort", follow, { once: true });
  const late = (): void => controller.abort(new Error(`no answer within ${milliseconds} ms`));
  const timer = milliseconds === undefined ? undefined : setTimeout(late, milliseconds);
  return {
    signal,
    race: (work) =>
      new Promise((resolve, reject) => {
        const aborted = (): void => reject(signal.reason);
        if (signal.aborted) aborted();
        signal.addEventListener("abort", aborted, { once: true });
        work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
      }),
    end() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", follow);
    },
  };
}

export interface Joined {
  readonly signal: AbortSignal;
  /** Must be called when what it was made for is over. */
  end(): void;
}

/** Aborted with the reason of whichever is aborted first. */
export function joinSignals(signals: readonly AbortSignal[]): Joined {
  const controller = new AbortController();
  const follows = signals.map((signal) => ({ signal, follow: () => controller.abort(signal.reason) }));
  for (const { signal, follow } of follows) {
    if (signal.aborted) follow();
    else signal.addEventListener("abort", follow, { once: true });
  }
  return {
    signal: controller.signal,
    end() {
      for (const { signal, follow } of follows) signal.removeEventListener("abort", follow);
    },
  };
}
