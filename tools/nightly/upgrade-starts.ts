/**
 * The earlier commits that one night upgrades from: the oldest, which has the most to catch up with, and two of the others, by the seed.
 * One upgrade takes minutes and every landing adds a commit, so that all of them would soon fill the night; as many nights in a row as
 * there are commits reach each of them. The newest is left out: the tests of every commit upgrade from it.
 */
export function upgradeStarts(landings: readonly string[], seed: string): readonly string[] {
  const [oldest, ...others] = landings.slice(0, -1);
  if (oldest === undefined) return [];
  const first = (Number.parseInt(seed, 10) || 0) % Math.max(1, others.length);
  const second = (first + Math.ceil(others.length / 2)) % Math.max(1, others.length);
  return [oldest, ...new Set([first, second].flatMap((index) => others[index] ?? []))];
}
