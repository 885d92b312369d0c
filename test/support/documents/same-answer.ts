// What makes an answer that a page shows comparable with one that was given: what differs from day
// to day gets one name for all.

const masks: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID"],
  [/eyJ[\w.…-]+/g, "TOKEN"],
  [/"created":\s*\d+/g, '"created": 0'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME"],
  [/_cursor=[\w%.…-]+/g, "_cursor=CURSOR"],
  [/(etag: )?\\?"[\w-]{27}\\?"/gi, "TAG"],
  // kubectl's ages.
  [/(?<=\s)(\d+[smhd])+(?=\s|$)/g, "AGE"],
];

/** JSON as a value, whatever its white space; other text line by line, runs of blanks as one. */
export function comparable(answer: string): unknown {
  const masked = masks.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), answer);
  try {
    return JSON.parse(masked) as unknown;
  } catch {
    return masked
      .trim()
      .split("\n")
      .map((line) => line.trim().replaceAll(/\s+/g, " "));
  }
}
