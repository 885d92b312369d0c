// The guides for whoever runs jsonplane: every value that they name is one of the chart, and every
// page that they link is there.

import { access, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../../tools/read-crds.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

const schema = JSON.parse(await readFile(join(root, "charts/jsonplane/values.schema.json"), "utf8")) as Schema;
const groups = Object.keys(schema.properties ?? {}).join("|");

/** Nothing below a value that has no members of its own. */
function valueAt(path: string): Schema | undefined {
  return path.split(".").reduce<Schema | undefined>((at, name) => at?.properties?.[name], schema);
}

const guides = ["docs/install.md", "docs/operations.md", "docs/gitops.md"];

describe.each(guides)("%s", (guide) => {
  it("names only values that the chart has", async () => {
    const text = await readFile(join(root, guide), "utf8");
    const set = [...text.matchAll(/--set "?([\w.]+)=/g)].map(([, path]) => path ?? "");
    const named = [...text.matchAll(new RegExp(`\`((?:${groups})\\.[\\w.]+)(?:=[^\`]*)?\``, "g"))].map(
      ([, path]) => path ?? "",
    );
    expect([...set, ...named].filter((path) => valueAt(path) === undefined)).toEqual([]);
    expect(set.length + named.length).toBeGreaterThan(0);
  });

  it("shows values that the chart takes", async () => {
    const text = await readFile(join(root, guide), "utf8");
    const accepts = new Ajv({ strict: false }).compile(schema);
    for (const [, values] of text.matchAll(/```yaml\n# values\.yaml\n(.*?)```/gs)) {
      expect(accepts(parse(values ?? "")), JSON.stringify(accepts.errors)).toBe(true);
    }
  });

  it("links to pages that are there", async () => {
    const text = await readFile(join(root, guide), "utf8");
    for (const [, link] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      await expect(access(join(root, dirname(guide), link ?? "")), link).resolves.toBeUndefined();
    }
  });
});
