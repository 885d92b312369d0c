// Lists the identifiers of a TypeScript, JavaScript or Lua text: what is left of it without comments, texts and regular expressions.

const script =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?<=[(,=:[!&|?{};]\s*|=>\s*|return\s+)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])*\/[a-z]*|[A-Za-z_$][\w$]*|[`{}]|\$\{/g;
const lua = /--\[\[[\s\S]*?\]\]|--[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*/g;
const name = /^[A-Za-z_$]/;

export function namesOfCode(path: string, text: string): ReadonlySet<string> {
  if (path.endsWith(".lua")) return new Set((text.match(lua) ?? []).filter((token) => name.test(token)));
  const names = new Set<string>();
  addNames(text, 0, names);
  return names;
}

/** Up to the `}` that closes what began before `from`; returns where it goes on. */
function addNames(text: string, from: number, names: Set<string>): number {
  let depth = 0;
  const tokens = new RegExp(script);
  tokens.lastIndex = from;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const [token] = match;
    if (token === "`") tokens.lastIndex = afterTemplate(text, tokens.lastIndex, names);
    else if (token === "{") depth += 1;
    else if (token === "}" && depth === 0) return tokens.lastIndex;
    else if (token === "}") depth -= 1;
    else if (name.test(token)) names.add(token);
  }
  return text.length;
}

/** The text of a template literal is no code; what stands in its `${}` is. */
function afterTemplate(text: string, from: number, names: Set<string>): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "`") return at + 1;
    else if (text.startsWith("${", at)) at = addNames(text, at + 2, names) - 1;
  }
  return text.length;
}

/** `statusTeller`, `STATUS_TELLER` and `status-teller.ts` have the words status and teller. */
export function splitName(text: string): readonly string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
}
