// Maps items by an asynchronous function, a limited number of them at a time.

/**
 * The results, in the order of the items. Once a call has rejected no other one is started, and it rejects with the first failure as soon as the calls
 * under way have ended.
 */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const failures: { readonly error: unknown }[] = [];
  // All workers share one iterator: each takes the next item that no other has taken.
  const left = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) {
      try {
        results[index] = await run(item);
      } catch (error) {
        failures.push({ error });
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  const [failed] = failures;
  if (failed !== undefined) throw failed.error;
  return results;
}
