// Compares JSON texts by content: number texts count as they are written, the order of members does
// not (a store may move the siblings of a removed member).

interface ReviverContext {
  readonly source?: string;
}

/** One text for all texts that differ in member order only. */
export function normalised(text: string): string {
  const parse = JSON.parse as (
    text: string,
    reviver: (key: string, value: unknown, context: ReviverContext) => unknown,
  ) => unknown;
  return render(
    parse(text, (_key, value, context) => (typeof value === "number" ? new NumberText(context.source ?? "") : value)),
  );
}

class NumberText {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

function render(value: unknown): string {
  if (value instanceof NumberText) return value.source;
  if (Array.isArray(value)) return `[${value.map(render).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${render(member)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}
