import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../tools/read-crds.ts";
import { scenarios } from "../chaos/scenarios.ts";

const page = await readFile(join(root, "docs/chaos.md"), "utf8");
const names = scenarios.map(({ name }) => name);

it("docs/chaos.md says of every scenario what is done and what is promised, as it stands in the scenario, and of no other", () => {
  const paragraphs = [...page.matchAll(/^- \*\*([a-z-]+)\*\*: (.*)$/gm)].map(([, name = "", text = ""]) => [
    name,
    text,
  ]);
  expect(paragraphs.map(([name]) => name).sort()).toEqual([...names].sort());
  const texts = new Map(paragraphs.map(([name = "", text = ""]) => [name, text]));
  for (const { name, does, promises } of scenarios) {
    expect([`${does}. Holds: ${promises}.`, `${does}. Not played in this run: `]).toContainEqual(
      texts.get(name)?.replace(/(Not played in this run: ).*/, "$1"),
    );
  }
});

it("docs/chaos.md has a row for every scenario that was played, in the order of the list, and each held", () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \|.*\| (\S[^|]*) \|$/gm)].map(([, name = "", end = ""]) => [
    name,
    end,
  ]);
  const played = names.filter((name) => !isLeftOut(name));
  expect(rows).toEqual(played.map((name) => [name, "held"]));
});

function isLeftOut(name: string): boolean {
  return new RegExp(`^- \\*\\*${name}\\*\\*: .* Not played in this run: `, "m").test(page);
}
