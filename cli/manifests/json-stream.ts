// Takes apart a text that is JSON objects one after the other, which kubectl reads and YAML does not.

import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";

const token = /"(?:[^"\\]|\\.)*"|[{}]/gs;

/** The objects' texts with the space before each; undefined where the text is anything else, such as one object. */
export function jsonObjects(text: string): readonly string[] | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const objects: string[] = [];
  let start = 0;
  let depth = 0;
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === "{") depth += 1;
    if (found === "}") depth -= 1;
    if (found !== "}" || depth !== 0) continue;
    objects.push(text.slice(start, index + 1));
    start = index + 1;
  }
  const isStream =
    objects.length > 1 &&
    text.slice(start).trim() === "" &&
    objects.every((each) => parseOrUndefined(each) !== undefined);
  return isStream ? objects : undefined;
}
