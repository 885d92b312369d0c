// One text for equal configuration: members are sorted at every level. Their order matters only in
// `compile`.

export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => sorted(member));
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
