// Pages of the documentation and the repository agree: links lead to files that are there, and a test that is named is one.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../tools/read-crds.ts";
import { documentationPages } from "../support/documentation-pages.ts";

describe.each(documentationPages)("%s", (page) => {
  it("links to files and folders that are there", async () => {
    const text = (await readFile(join(root, page), "utf8"))
      .replaceAll(/^ *```[\s\S]*?^ *```/gm, "")
      .replaceAll(/`[^`\n]*`/g, "");
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link]) => link ?? "");
    const local = links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => posix.join(posix.dirname(page), link));
    expect(local.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it("names no test that is not there", async () => {
    const text = await readFile(join(root, page), "utf8");
    const named = [...text.matchAll(/`(test\/[\w/-]+(?:\.test)?\.ts)`/g)].map(([, path]) => path ?? "");
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
