// Identifiers and names of files use the words of docs/GLOSSARY.md: none that was retired comes back.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../tools/read-crds.ts";
import { namesOfCode, splitName } from "./names-of-code.ts";
import { foreignNames, type RetiredWord, retiredWords } from "./retired-words.ts";

const folders = ["core", "dataplane", "operator", "cli", "pages", "tools", "test"];
const retired = retiredWords.flatMap(({ words, write, as }) => words.map((word) => ({ word, write, as })));

function filesIn(folder: string): readonly string[] {
  const listed = execFileSync("git", ["ls-files", "--", folder], { cwd: root, encoding: "utf8" });
  return listed
    .trim()
    .split("\n")
    .filter((file) => existsSync(join(root, file)));
}

function retiredIn(name: string): readonly string[] {
  const words = splitName(name);
  return retired
    .filter(({ word, as }) => isIn(words, word.split(" "), as))
    .map(({ word, write }) => `${name}: ${word} is retired, write ${write}`);
}

function isIn(words: readonly string[], word: readonly string[], as: RetiredWord["as"]): boolean {
  const standsAt = (at: number): boolean => word.every((each, index) => words[at + index] === each);
  if (as === "name") return words.length === word.length && standsAt(0);
  if (as === "start") return words.length > word.length && standsAt(0);
  return words.some((_, at) => standsAt(at));
}

function retiredInFile(file: string): readonly string[] {
  const parts = file.split("/").map((part) => part.replace(/\.[\w.]*$/, ""));
  const code = /\.(?:tsx?|mjs|js|lua)$/.test(file) ? namesOfCode(file, readFileSync(join(root, file), "utf8")) : [];
  const stored = foreignNames[file] ?? [];
  const names = [...parts, ...code].filter((name) => !stored.includes(name));
  return names.flatMap(retiredIn).map((message) => `${file}: ${message}`);
}

it.each(folders)("%s has no retired word in names of files and identifiers", (folder) => {
  expect(filesIn(folder).flatMap(retiredInFile)).toEqual([]);
});

it("a name is kept for stored data or other programs only where it stands", () => {
  for (const [file, names] of Object.entries(foreignNames)) {
    const text = readFileSync(join(root, file), "utf8");
    expect(names.filter((name) => !text.includes(name))).toEqual([]);
  }
});

it("names are found where code is, and not in comments, texts and regular expressions", () => {
  const text = [
    '// judge\nconst tenure = "said"; /* told */ const r = /heard "/.test(grave);',
    "const t = `said ${risen(`told $" + '{"heard" + doomed}`)} told`; a / b / upkeep; type Scene = { odd: 1 };',
  ].join("\n");
  const names = [...namesOfCode("a.ts", text)].filter((name) => retiredIn(name).length > 0);
  expect(names).toEqual(["tenure", "grave", "risen", "doomed", "upkeep", "Scene", "odd"]);
  expect([...namesOfCode("a.lua", 'local odd = "told" -- said\n--[[ grave\n]] risen()')]).toEqual([
    ...["local", "odd", "risen"],
  ]);
});

it("a word is found in every way of writing it, and not within a longer word", () => {
  const found = [
    "carryOn",
    "CARRY_ON",
    "carry-on",
    "mostWords",
    "few_left",
    "JudgeValue",
    "statusTeller",
    "Act",
    "HTTPScene",
  ];
  expect(found.filter((name) => retiredIn(name).length === 0)).toEqual([]);
  expect(["carry", "almost", "most", "intellect", "factory", "exactly", "doAct"].flatMap(retiredIn)).toEqual([]);
});

it("the glossary has its terms in alphabetical order, each once, in one sentence", () => {
  const sections = readFileSync(join(root, "docs/GLOSSARY.md"), "utf8").split(/^## /m).slice(1);
  const rows = sections.map((section) => [...section.matchAll(/^\| (.+?) \| (.+) \|$/gm)].slice(1));
  for (const section of rows) {
    const terms = section.map(([, term = ""]) => term);
    expect(terms).toEqual(terms.toSorted((a, b) => a.localeCompare(b, "en")));
    for (const [, term, meaning] of section) expect(meaning, term).toMatch(/^[A-Z`].*[^.]\.$/);
  }
  const all = rows.flat().map(([, term]) => term);
  expect(all.length).toBeGreaterThan(50);
  expect(new Set(all).size).toBe(all.length);
});
