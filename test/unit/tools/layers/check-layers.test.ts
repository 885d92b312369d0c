import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkLayers } from "../../../../tools/layers/check-layers.ts";
import { printable } from "../../../../tools/layers/violations.ts";

let root = "";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "jsonplane-layers-"));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

/** What is found in a repository of these files; each gets an opening comment unless it has one. */
async function violationsIn(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  for (const [path, text] of Object.entries(files)) {
    const commented = path.endsWith(".ts") && !text.startsWith("//") ? `// Does a thing.\n${text}` : text;
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), commented);
  }
  const report = await checkLayers(root);
  return report.violations.map(printable);
}

const use = (from: string) => `import { a } from "${from}";\nexport const b = a;\n`;
const useType = (from: string) => `import type { A } from "${from}";\nexport type B = A;\n`;
const leaf = "export const a = 1;\nexport type A = 1;\n";

describe("import direction", () => {
  it("lets the programs use core, and the command line use everything", async () => {
    const found = await violationsIn({
      "core/a.ts": leaf,
      "operator/b.ts": use("../core/a.ts"),
      "dataplane/c.ts": use("../core/a.ts"),
      "cli/d.ts": `import { b } from "../operator/b.ts";\nimport { b as c } from "../dataplane/c.ts";\nexport const d = b + c;\n`,
    });
    expect(found).toEqual([]);
  });

  it("refuses core that imports a sibling, even a type", async () => {
    const found = await violationsIn({ "core/a.ts": useType("../dataplane/c.ts"), "dataplane/c.ts": leaf });
    expect(found).toEqual(["core/a.ts:2  core must not import dataplane (dataplane/c.ts); it may use itself"]);
  });

  it("refuses operator and dataplane that import each other", async () => {
    const found = await violationsIn({
      "operator/a.ts": leaf,
      "dataplane/b.ts": use("../operator/a.ts"),
      "dataplane/c.ts": leaf,
      "operator/d.ts": useType("../dataplane/c.ts"),
    });
    expect(found).toHaveLength(2);
    expect(found[0]).toContain("dataplane must not import operator");
    expect(found[1]).toContain("operator must not import dataplane");
  });

  it("refuses product code that imports tests or tools", async () => {
    const found = await violationsIn({
      "tools/a.ts": leaf,
      "test/support/b.ts": leaf,
      "cli/c.ts": use("../tools/a.ts"),
      "tools/d.ts": use("../test/support/b.ts"),
    });
    expect(found).toHaveLength(2);
  });

  it("sees a dynamic import and an import for its effect", async () => {
    const found = await violationsIn({
      "cli/a.ts": leaf,
      "core/b.ts": `import "../cli/a.ts";\nexport const load = () => import("../cli/a.ts");\n`,
    });
    expect(found).toHaveLength(2);
  });

  it("refuses an import of a file that isn't there", async () => {
    const found = await violationsIn({ "core/a.ts": use("./gone.ts") });
    expect(found).toEqual(["core/a.ts:2  imports core/gone.ts, which doesn't exist"]);
  });

  it("takes an import inside a template for text", async () => {
    const text = 'export const a = `\nimport { b } from "./gone.ts";\nimport("./gone.ts");\n`;\n';
    const found = await violationsIn({ "core/a.ts": text });
    expect(found).toEqual([]);
  });
});

describe("stages", () => {
  it("lets a stage use values of those before it, and types of those after it", async () => {
    const found = await violationsIn({
      "operator/watch/a.ts": leaf,
      "operator/publish/b.ts": use("../watch/a.ts"),
      "operator/compile/c.ts": useType("../publish/b.ts").replaceAll("A", "b"),
    });
    expect(found).toEqual([]);
  });

  it("refuses a stage of the data plane that uses a type of a later one", async () => {
    const found = await violationsIn({ "dataplane/http/a.ts": leaf, "dataplane/route/b.ts": useType("../http/a.ts") });
    expect(found).toEqual(["dataplane/route/b.ts:2  route stands before http: it must not import dataplane/http/a.ts"]);
  });

  it("refuses a feature that uses another one, even a type", async () => {
    const found = await violationsIn({
      "dataplane/objects/a.ts": leaf,
      "dataplane/documents/b.ts": useType("../objects/a.ts"),
    });
    expect(found).toEqual([
      "dataplane/documents/b.ts:2  documents and objects are features, which know nothing of each other: it must not import dataplane/objects/a.ts",
    ]);
  });

  it("refuses a stage that uses values of a later one", async () => {
    const found = await violationsIn({
      "operator/publish/a.ts": leaf,
      "operator/watch/b.ts": use("../publish/a.ts"),
    });
    expect(found).toEqual([
      "operator/watch/b.ts:2  watch runs before publish: it may import types of operator/publish/a.ts, not values",
    ]);
  });

  it("refuses a stage that imports the file which joins the stages", async () => {
    const found = await violationsIn({ "dataplane/pipeline.ts": leaf, "dataplane/route/a.ts": use("../pipeline.ts") });
    expect(found).toEqual([
      "dataplane/route/a.ts:2  a stage must not import dataplane/pipeline.ts, which joins the stages",
    ]);
  });

  it("refuses a stage that imports a folder which joins the stages, be it a type", async () => {
    const found = await violationsIn({
      "operator/runtime/a.ts": leaf,
      "operator/reconcile/b.ts": useType("../runtime/a.ts"),
      "operator/status/c.ts": useType("../reconcile/b.ts").replaceAll("A", "b"),
      "operator/runtime/d.ts": use("../reconcile/b.ts"),
    });
    expect(found).toEqual([
      "operator/reconcile/b.ts:2  reconcile runs before runtime, which joins the stages: it must not import operator/runtime/a.ts",
      "operator/status/c.ts:2  status runs before reconcile, which joins the stages: it must not import operator/reconcile/b.ts",
    ]);
  });

  it("lets only the joining files choose a store", async () => {
    const files = {
      "dataplane/store/redis/redis-store.ts": leaf,
      "dataplane/app.ts": use("./store/redis/redis-store.ts"),
      "dataplane/objects/a.ts": use("../store/redis/redis-store.ts"),
    };
    expect(await violationsIn(files)).toEqual([
      "dataplane/objects/a.ts:2  only app.ts chooses a store: import a port, not dataplane/store/redis/redis-store.ts",
    ]);
  });

  it("asks where a folder stands that it doesn't know", async () => {
    const found = await violationsIn({
      "dataplane/route/a.ts": leaf,
      "dataplane/novelty/b.ts": use("../route/a.ts"),
    });
    expect(found.join()).toContain("dataplane/novelty is no known stage");
  });
});

describe("cycles", () => {
  it("tells a cycle once, with its way", async () => {
    const found = await violationsIn({
      "core/a.ts": use("./b.ts"),
      "core/b.ts": use("./c.ts"),
      "core/c.ts": use("./a.ts"),
    });
    expect(found).toEqual(["core/a.ts:1  import cycle: core/a.ts → core/b.ts → core/c.ts → core/a.ts"]);
  });

  it.each(["dataplane/http", "core/schema", "operator/watch", "cli/dev", "tools"])(
    "counts types in %s",
    async (folder) => {
      const found = await violationsIn({
        [`${folder}/a.ts`]: use("./b.ts"),
        [`${folder}/b.ts`]: `${useType("./a.ts")}${leaf}`,
      });
      expect(found.join()).toContain(`import cycle: ${folder}/a.ts → ${folder}/b.ts → ${folder}/a.ts`);
    },
  );
});

describe("pure folders", () => {
  it("refuses packages, store clients and waiting where only judging is allowed", async () => {
    const found = await violationsIn({
      "dataplane/store/ports/limits.ts": "// Limits.\nexport interface Counters {}\n",
      "dataplane/store/ports/refs.ts": "// References.\nexport interface Visibility {}\n",
      "dataplane/authorize/a.ts": `import { readFile } from "node:fs/promises";\nimport type { Counters } from "../store/ports/limits.ts";\nexport const a = async (c: Counters) => {\n  await readFile(String(c));\n};\n`,
      "dataplane/authorize/b.ts": `import { createHash } from "node:crypto";\nimport type { Visibility } from "../store/ports/refs.ts";\nexport const b = (v: Visibility) => [v, createHash];\n`,
    });
    expect(found.map((line) => line.split("  ")[0])).toEqual([
      "dataplane/authorize/a.ts:2",
      "dataplane/authorize/a.ts:3",
      "dataplane/authorize/a.ts:5",
    ]);
  });
});

describe("files", () => {
  it.each(["core/utils.ts", "core/json-utils.ts", "core/helpers/a.ts", "test/support/common.ts", "tools/misc.sh"])(
    "refuses %s, a name that says nothing",
    async (path) => {
      const text = path.endsWith(".sh") ? "#!/bin/sh\n# Does a thing.\n" : leaf;
      expect((await violationsIn({ [path]: text })).join()).toContain("says nothing of what is inside");
    },
  );

  it("takes 400 lines and refuses 401", async () => {
    const lines = (count: number) => `// Does a thing.\n${"export {};\n".repeat(count - 1)}`;
    expect(await violationsIn({ "core/a.ts": lines(400) })).toEqual([]);
    expect(await violationsIn({ "core/a.ts": lines(401) })).toEqual([
      "core/a.ts:401  has 401 lines, 400 are the limit: split it by what it does",
    ]);
  });

  it("refuses a file without an opening comment, and excuses tests, whose names are their sentences", async () => {
    const found = await violationsIn({ "tools/a.sh": "#!/bin/sh\nset -eu\n", "test/unit/a.test.ts": leaf });
    expect(found).toEqual([
      "tools/a.sh:1  opens without a comment: what does it turn into what, and how can it refuse?",
    ]);
  });

  it("refuses ways around the type check", async () => {
    const directive = ["// @ts", "ignore"].join("-");
    const found = await violationsIn({ "core/a.ts": `${leaf}  ${directive} the types are wrong\n` });
    expect(found).toEqual(["core/a.ts:4  goes around the types: unknown and a check instead"]);
  });

  it("refuses a TODO without an issue number", async () => {
    const note = ["// TO", "DO"].join("");
    const found = await violationsIn({ "core/a.ts": `${leaf}${note} later\n${note} (#12) later\n` });
    expect(found).toEqual(["core/a.ts:4  a TODO carries an issue number (#7), or isn't there"]);
  });

  it("leaves installed packages and built output alone", async () => {
    const bad = use("./gone.ts");
    expect(await violationsIn({ "node_modules/p/a.ts": bad, "dist/a.ts": bad, "cli/node_modules/b.ts": bad })).toEqual(
      [],
    );
  });
});

describe("Lua scripts", () => {
  const header = "-- Purpose: adds.\n-- KEYS\n--   1 the document\n-- ARGV\n--   1 text\n-- Returns {code}\n";
  const folder = "dataplane/store/redis/lua";

  it("takes a script with its header, whose name counts its keys", async () => {
    const text = `${header}local document = KEYS[1]\nreturn { document }\n`;
    expect(await violationsIn({ [`${folder}/add-object-1.lua`]: text })).toEqual([]);
  });

  it("takes a script whose call says how many keys there are, and files that scripts include", async () => {
    const text = `${header}local first = KEYS[1]\nlocal second = KEYS[2]\nreturn { first, second }\n`;
    const include = "-- Splits a member.\nlocal function split() end\n";
    expect(
      await violationsIn({ [`${folder}/add-object-n.lua`]: text, [`${folder}/includes/split.lua`]: include }),
    ).toEqual([]);
  });

  it("refuses a name that counts nothing", async () => {
    expect((await violationsIn({ [`${folder}/add.lua`]: header })).join()).toContain("<name>-<numkeys>.lua");
  });

  it("refuses a header that lacks a part, or has them in another order", async () => {
    const lacking = header.replace("-- ARGV\n--   1 text\n", "");
    const text = "local document = KEYS[1]\nreturn { document }\n";
    expect((await violationsIn({ [`${folder}/add-1.lua`]: lacking + text })).join()).toContain("its header lacks ARGV");
    const swapped = "-- Purpose: adds.\n-- ARGV\n-- KEYS\n-- Returns {code}\n";
    expect((await violationsIn({ [`${folder}/add-1.lua`]: swapped + text })).join()).toContain("not in the order");
  });

  it("refuses a script that uses more or fewer keys than its name counts", async () => {
    const one = "local document = KEYS[1]\nreturn { document }\n";
    expect((await violationsIn({ [`${folder}/add-2.lua`]: header + one })).join()).toContain("never names KEYS[2]");
    const two = "local document = KEYS[2]\nreturn { document }\n";
    await rm(join(root, folder), { recursive: true });
    expect((await violationsIn({ [`${folder}/add-1.lua`]: header + two })).join()).toContain("uses KEYS[2]");
  });
});
