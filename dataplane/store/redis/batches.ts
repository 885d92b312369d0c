// Sorts what came in one turn of the event loop into batches, each of which one command or script can take.

export type Batch<T> = readonly [T, ...T[]];

/** Items of one name go together, `maxLength` at most, in the order in which they came. */
export function batchesOf<T>(items: readonly T[], nameOf: (item: T) => string, maxLength: number): readonly Batch<T>[] {
  const batches: [T, ...T[]][] = [];
  const lastOf = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const name = nameOf(item);
    const last = lastOf.get(name);
    if (last !== undefined && last.length < maxLength) {
      last.push(item);
      continue;
    }
    const batch: [T, ...T[]] = [item];
    batches.push(batch);
    lastOf.set(name, batch);
  }
  return batches;
}
