import { describe, expect, test } from "vitest";
import type { Json } from "../../../../core/config/types.ts";
import { type Manifest, type ManifestResult, validateManifest } from "../../../../core/manifests/validate-manifest.ts";
import { type TableCase, tableCases } from "../../../manifests/table.ts";

describe("the table of manifests", () => {
  for (const each of tableCases()) {
    if (each.refused === undefined) test(each.title, () => expectAccepted(each));
    else test(`${each.title} is refused`, () => expectRefused(each, each.refused ?? []));
  }
});

function expectAccepted(each: TableCase): void {
  const result = validateManifest(each.object, formerOf(each));
  expect(messagesOf(result)).toEqual([]);
  if (!result.ok) return;
  expect(Object.fromEntries(Array.from(each.stored.keys(), (path) => [path, specField(result.object, path)]))).toEqual(
    Object.fromEntries(each.stored),
  );
}

function expectRefused(each: TableCase, texts: readonly string[]): void {
  const messages = messagesOf(validateManifest(each.object, formerOf(each)));
  for (const text of texts) expect(messages).toContainEqual(expect.stringContaining(text));
  expect(messages).toHaveLength(texts.length);
}

function messagesOf(result: ManifestResult): readonly string[] {
  return result.ok ? [] : result.problems.map((problem) => problem.message);
}

function formerOf(each: TableCase): Manifest | undefined {
  if (each.former === undefined) return undefined;
  const former = validateManifest(each.former);
  if (!former.ok) expect.fail(`the former manifest was refused: ${former.problems[0]?.message}`);
  return former.object;
}

function specField(object: Manifest, path: string): Json | undefined {
  let value: unknown = object.spec;
  for (const part of path.split(".")) value = (value as { readonly [name: string]: unknown })[part];
  return value as Json | undefined;
}
