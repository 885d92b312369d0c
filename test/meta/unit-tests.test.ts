// Unit and meta tests share their modules (`isolate: false` in vitest.config.ts): a module that is
// mocked in one file would stay mocked in the next one, or not be mocked at all when an earlier
// file has loaded it.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../tools/read-crds.ts";

const self = "test/meta/unit-tests.test.ts";
const lasting = new RegExp(
  [
    "\\bvi\\s*\\.(?:mock|doMock|unmock|doUnmock|resetModules|stubEnv|stubGlobal|setConfig)\\(",
    "\\bprocess\\.(?:chdir|exit|umask)\\(",
    "\\bprocess\\.env(?:\\.\\w+|\\[[^\\]]*\\])\\s*(?:\\?\\?|\\|\\|)?=(?!=)",
    "\\bdelete process\\.env\\b",
    "\\bObject\\.assign\\(process\\.env\\b",
    "\\bglobalThis\\.\\w+\\s*=(?!=)",
  ].join("|"),
);

it("unit and meta tests mock no module and change nothing of their process that the next file would find", async () => {
  const found: string[] = [];
  for (const folder of ["test/unit", "test/meta"]) {
    const names = (await readdir(join(root, folder), { recursive: true })).filter((name) => name.endsWith(".ts"));
    for (const name of names) {
      if (`${folder}/${name}` === self) continue;
      const lines = (await readFile(join(root, folder, name), "utf8")).split("\n");
      found.push(...lines.filter((line) => lasting.test(line)).map((line) => `${folder}/${name}: ${line.trim()}`));
    }
  }
  expect(found).toEqual([]);
});

it.each([
  ['vi.mock("argon2");', true],
  ['process.env.HOME = "x";', true],
  ['process.env["HOME"] ??= "x";', true],
  ['if (process.env.HOME === "x") return;', false],
  ["globalThis.fetch = fake;", true],
  ["vi.useFakeTimers();", false],
])("the search judges `%s` rightly", (line, expected) => {
  expect(lasting.test(line)).toBe(expected);
});
