// `npm run docs:site`: makes a site out of the repository's Markdown in out/site, or the folder that is named. It needs no network, neither
// to be made nor to be read: open out/site/index.html. Which pages there are, Git says.

import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { runCommand } from "../parts/run-command.ts";
import { root } from "../read-crds.ts";
import { readArguments } from "../script-arguments.ts";
import { ScriptFailed, startScript } from "../start-script.ts";
import { pageTemplate } from "./page-template.ts";
import { addressOf, isPage, sectionsOf } from "./places.ts";
import { renderPage } from "./render-page.ts";

const assets = ["site.css", "search.js"];

/** Returns how many pages there are. */
export async function buildSite(folder: string): Promise<number> {
  const files = await sources();
  const pages = files.filter(isPage);
  const pictures = files.filter((file) => /^docs\/.*\.(svg|png)$/.test(file));
  const neighbours = { pages: new Set(pages), pictures: new Set(pictures) };
  const rendered = new Map(
    await Promise.all(
      pages.map(
        async (page) => [page, renderPage(page, await readFile(join(root, page), "utf8"), neighbours)] as const,
      ),
    ),
  );
  const titles = new Map([...rendered].map(([page, { title }]) => [page, page === "README.md" ? "Start" : title]));
  const sections = sectionsOf(pages);

  await rm(folder, { recursive: true, force: true });
  for (const [page, each] of rendered) {
    await write(join(folder, addressOf(page)), pageTemplate({ page, rendered: each, sections, titles }));
  }
  const index = [...rendered].flatMap(([page, { parts }]) =>
    parts.map(({ id, heading, text }) => [`${addressOf(page)}#${id}`, titles.get(page), heading, text.trim()]),
  );
  await write(join(folder, "search-index.js"), `searchIndex(${JSON.stringify(index)});\n`);
  for (const name of assets) await cp(join(root, "tools/site/assets", name), join(folder, name));
  for (const picture of pictures) await cp(join(root, picture), join(folder, relative("docs", picture)));
  return pages.length;
}

/** What is committed or about to be: no page that somebody left lying about. */
async function sources(): Promise<readonly string[]> {
  const listed = await runCommand(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "*.md", "docs/*.svg", "docs/*.png"],
    { cwd: root },
  );
  if (listed.code !== 0) throw new ScriptFailed(`git ls-files failed: ${listed.stderr}`);
  return listed.stdout.trim().split("\n");
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

if (import.meta.main) {
  startScript("npm run docs:site");
  const [folder = join(root, "out/site")] = readArguments({}, ["[FOLDER]"]).words;
  console.log(`${await buildSite(folder)} pages: ${join(folder, "index.html")}`);
}
