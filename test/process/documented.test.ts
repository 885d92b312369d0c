// Follows the tutorial and the guides in development mode, as a reader does: every file saved,
// every line pasted, every answer compared.

import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { followPage } from "../support/documents/documented-page.ts";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { pasteShell } from "../support/documents/paste-shell.ts";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";
import { startRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const guides = (await readdir(join(root, "docs/how-to"))).map((name) => `docs/how-to/${name}`);
const pages = ["docs/tutorial.md", "docs/gitops.md", ...guides.filter((name) => !name.endsWith("README.md"))];
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function emptyRedis(): Promise<string> {
  const redis = await startRedis();
  closing.push(() => redis.stop());
  return redis.url;
}

async function follow(markdown: string) {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-docs-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "bin"));
  await symlink(join(root, "bin/jsonplane"), join(folder, "bin/jsonplane"));
  const [port, adminPort] = [String(await freePort()), String(await freePort())];
  const outward = (text: string) => text.replaceAll(":8080", `:${port}`).replaceAll(":9090", `:${adminPort}`);
  const inward = (text: string) => text.replaceAll(`:${port}`, ":8080").replaceAll(`:${adminPort}`, ":9090");
  const shell = pasteShell(folder);
  closing.push(() => shell.stop());
  let dev: DevProcess | undefined;
  let since = 0;
  return followPage(markdown, {
    folder,
    kind: "dev",
    async paste(lines) {
      const { printed, code } = await shell.paste(outward(lines));
      return { printed: inward(printed), code };
    },
    async startDev(flags) {
      const words = await Promise.all(flags.map((word) => (word.startsWith("redis://") ? emptyRedis() : word)));
      dev = devProcess([...words, "--port", port, "--admin-port", adminPort], folder);
      closing.push(dev.stop);
      await dev.ready();
    },
    devSays: (line) => eventually(() => expect(inward(dev?.out().slice(since) ?? "").split("\n")).toContain(line)),
    mark() {
      since = dev?.out().length ?? 0;
    },
  });
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
    // live-pages.test.ts and client-guide.test.ts.
    if (page === "docs/how-to/use-from-a-browser.md") known.push("ts", "html");
    if (page === "docs/how-to/use-the-client.md") known.push("ts");
    // Compiled in test/process/types.test.ts.
    if (page === "docs/how-to/typescript-types.md") known.push("ts");
    if (page === "docs/how-to/feature-flags.md") known.push("html");
    expect(blocks.filter(({ language }) => !known.includes(language))).toEqual([]);
  });
});
