// Repeats an assertion until it holds, for effects that reach another process or a store's own
// clock a little later; after `withinMs` it throws the last failure. Half a minute, where nothing
// is said, is for busy machines: it proves no speed.

export interface Patience {
  readonly withinMs?: number;
  readonly everyMs?: number;
}

/** Calls `attempt` until it neither throws nor rejects, and returns its result. */
export async function eventually<T>(attempt: () => T | Promise<T>, patience: Patience = {}): Promise<T> {
  const deadline = Date.now() + (patience.withinMs ?? 30_000);
  for (;;) {
    try {
      return await attempt();
    } catch (failure) {
      if (Date.now() >= deadline) throw failure;
    }
    await new Promise((resume) => setTimeout(resume, patience.everyMs ?? 25));
  }
}
