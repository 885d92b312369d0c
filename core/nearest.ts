// Guesses which known name a misspelt one means.

/** The nearest candidate within two edits of `name` (one, where `name` is short). */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const maxEdits = name.length < 5 ? 1 : 2;
  // Each edit changes the length by one at most.
  const alike = candidates.filter(({ length }) => Math.abs(length - name.length) <= maxEdits);
  const distances = alike.map((candidate) => ({ candidate, distance: distanceOf(name, candidate) }));
  distances.sort((a, b) => a.distance - b.distance);
  const [first] = distances;
  return first !== undefined && first.distance <= maxEdits ? first.candidate : undefined;
}

/** Levenshtein's distance, with swapped neighbours as one edit, case ignored, cut at 64. */
function distanceOf(left: string, right: string): number {
  const a = left.slice(0, 64).toLowerCase();
  const b = right.slice(0, 64).toLowerCase();
  // Distances between the first `row` characters of one and the first `column` of the other.
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  const edits = (row: number, column: number): number => {
    const replaced = at(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
    const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
    const swap = swapped ? at(row - 2, column - 2) + 1 : replaced;
    return Math.min(replaced, swap, at(row - 1, column) + 1, at(row, column - 1) + 1);
  };
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= b.length; column++) current.push(edits(row, column));
  }
  return at(a.length, b.length);
}
