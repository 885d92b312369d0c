// Follows the tutorial and the guides in development mode, as a reader does: every file saved,
// every line pasted, every answer compared.

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { followInDev } from "./followed-in-dev.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const guides = (await readdir(join(root, "docs/how-to"))).map((name) => `docs/how-to/${name}`);
const pages = ["docs/tutorial.md", "docs/gitops.md", ...guides.filter((name) => !name.endsWith("README.md"))];
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function follow(markdown: string) {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-docs-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  return (await followInDev(markdown, { folder, closing })).deviations;
}

describe.each(pages)("%s", (page) => {
  it("says what happens: its commands work and are answered as it shows", async () => {
    expect(await follow(await readFile(join(root, page), "utf8"))).toEqual([]);
  });

  it("says of every block what to do with it", async () => {
    const blocks = fencedBlocks(await readFile(join(root, page), "utf8"));
    // Queries are asked in test/observability/costs.test.ts.
    const known = ["sh", "yaml", "json", "text", "promql"];
    // What browsers and Node run is run there, in test/process/use-from-a-browser.test.ts,
    // live-pages.test.ts and client-guides.test.ts.
    if (page === "docs/how-to/use-from-a-browser.md") known.push("ts", "html");
    if (/use-the-client|move-from-other-services|tanstack-db-and-rxdb/.test(page)) known.push("ts");
    // Compiled in test/process/types.test.ts.
    if (page === "docs/how-to/typescript-types.md") known.push("ts");
    if (page === "docs/how-to/feature-flags.md") known.push("html");
    expect(blocks.filter(({ language }) => !known.includes(language))).toEqual([]);
  });
});
