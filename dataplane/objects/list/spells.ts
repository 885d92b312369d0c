// A batch of large objects may be a second's work: others come in between.

import { setImmediate as othersFirst } from "node:timers/promises";

/** How long a visit of several goes on before it lets others in. */
const spellMilliseconds = 5;

/** Visits them in order, until one says false. */
export async function inSpells<T>(items: readonly T[], visit: (item: T) => boolean): Promise<void> {
  let since = performance.now();
  for (const item of items) {
    if (!visit(item)) return;
    if (performance.now() - since < spellMilliseconds) continue;
    await othersFirst();
    since = performance.now();
  }
}
