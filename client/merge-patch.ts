// RFC 7396, as the server applies it: for changes that are shown before they are stored.

type Fields = Readonly<Record<string, unknown>>;

export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else if (value !== undefined) merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

/** Whether to merge it would change nothing. */
export function hasMerged(target: unknown, patch: unknown): boolean {
  return isSame(mergePatch(target, patch), target);
}

export function isSame(one: unknown, other: unknown): boolean {
  if (!(isObject(one) && isObject(other)) && !(Array.isArray(one) && Array.isArray(other))) return one === other;
  const [left, right] = [Object.entries(one), other as Fields];
  return left.length === Object.keys(other).length && left.every(([name, value]) => isSame(value, right[name]));
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
