// Names in a sentence: the first ones, and how many more there are.

export function listed(names: readonly string[], max: number): string {
  const more = names.length - max;
  return more > 0 ? `${names.slice(0, max).join(", ")} and ${more} more` : names.join(", ");
}
