// Repeats an assertion until it holds, for effects that reach another process or a store's own
// clock a little later; after `withinMs` it throws the last failure. Half a minute, where nothing
// is said, is for busy machines: it proves no speed. The pauses grow with the time that has passed,
// because many attempts a second would take the processor from what is waited for.

export interface Patience {
  readonly withinMs?: number;
  /**
   * Pause between attempts, for states that pass soon; by default a tenth of the time that has
   * passed, from 25 ms to 250 ms.
   */
  readonly everyMs?: number;
}

/** Calls `attempt` until it neither throws nor rejects, and returns its result. */
export async function eventually<T>(attempt: () => T | Promise<T>, patience: Patience = {}): Promise<T> {
  const began = Date.now();
  for (;;) {
    try {
      return await attempt();
    } catch (failure) {
      if (Date.now() - began >= (patience.withinMs ?? 30_000)) throw failure;
    }
    const pause = patience.everyMs ?? Math.min(Math.max((Date.now() - began) / 10, 25), 250);
    await new Promise((resume) => setTimeout(resume, pause));
  }
}
