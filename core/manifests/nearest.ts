// Guesses which known name a misspelt one means.

/** The candidate that at most two edits separate from `name` (one, where `name` is short), the nearest first. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const most = name.length < 5 ? 1 : 2;
  const distances = candidates.map((candidate) => ({ candidate, distance: distanceOf(name, candidate) }));
  distances.sort((a, b) => a.distance - b.distance);
  const [first] = distances;
  return first !== undefined && first.distance <= most ? first.candidate : undefined;
}

/** Levenshtein's distance, case ignored, names cut at 64 characters. */
function distanceOf(left: string, right: string): number {
  const a = left.slice(0, 64).toLowerCase();
  const b = right.slice(0, 64).toLowerCase();
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
