// The app of docs/how-to/use-from-a-browser.md: files of examples/browser-app and the page's own
// blocks, written into a folder, and built.

import { cp, mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeFolder } from "../../cli/types/read-description.ts";
import { openapiTypescript } from "../../tools/parts/openapi-typescript.ts";
import { requirePart } from "../../tools/parts/part.ts";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";
import { type FencedBlock, fencedBlocks, fileNamed } from "../support/documents/fenced-blocks.ts";
import { buildApp } from "./built-app.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const sample = join(root, "examples/browser-app");

export type Sources = ReadonlyMap<string, string>;

export async function blocksOf(guide: string): Promise<readonly FencedBlock[]> {
  return fencedBlocks(await readFile(join(root, "docs/how-to", guide), "utf8"));
}

/** Source files among the blocks of a page, by their names. */
function sourcesIn(blocks: readonly FencedBlock[]): Sources {
  const named = blocks.map(({ language, text }) => {
    const [, name = ""] = /^(?:\/\/|<!--) ([\w-]+\.(?:ts|html))\b/.exec(text) ?? [];
    return [language === "ts" ? `src/${name}` : name, text] as const;
  });
  return new Map(named.filter(([name]) => /\.(?:ts|html)$/.test(name)));
}

/** The sources of the guide's app, by their names. */
export async function guideSources(): Promise<Sources> {
  const copied = ["base.ts", "session.ts", "api.ts", "tasks.ts"].map((name) => sourceIn("plain-http", name));
  copied.push(sourceIn("src", "form-errors.ts"));
  return new Map([...(await Promise.all(copied)), ...sourcesIn(await blocksOf("use-from-a-browser.md"))]);
}

/** The files that replace or join them where people sign in at a provider. */
export async function openIdSources(): Promise<Sources> {
  const names = (await readdir(join(sample, "openid"))).filter((name) => name.endsWith(".ts"));
  const sources = await Promise.all(names.map((name) => sourceIn("openid", name)));
  // In the app they are among the others.
  return new Map(sources.map(([name, text]) => [name, text.replaceAll(/"\.\.\/(?:src|plain-http)\//g, '"./')]));
}

async function sourceIn(folder: string, name: string): Promise<readonly [string, string]> {
  return [`src/${name}`, await readFile(join(sample, folder, name), "utf8")];
}

/**
 * The folder of the app, whose build is in `dist`. It is inside the tree, where the packages are
 * found that it needs.
 */
export async function writeApp(sources: Sources, api: string): Promise<string> {
  await mkdir(join(root, "out"), { recursive: true });
  const folder = await mkdtemp(join(root, "out", "browser-page-"));
  await cp(join(sample, "tsconfig.json"), join(folder, "tsconfig.json"));
  await writeTypes(folder);
  for (const [name, text] of sources) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    // So that the tests reach the client, and what the page only shows.
    const open =
      name === "src/main.ts"
        ? '\nimport { listTasks, readTask } from "./tasks.ts";\nObject.assign(globalThis, { api, listTasks, readTask });\n'
        : "";
    await writeFile(join(folder, name), text.replace("http://127.0.0.1:8080/default/team", api) + open);
  }
  await buildApp(folder, join(folder, "dist"));
  return folder;
}

/** As step 4 of the guide makes them. */
async function writeTypes(folder: string): Promise<void> {
  const manifests = (await blocksOf("use-from-a-browser.md")).find((block) => fileNamed(block) === "team/team.yaml");
  await writeFile(join(folder, "team.yaml"), manifests?.text ?? "");
  await writeFile(join(folder, "openapi.json"), JSON.stringify(await describeFolder(folder, undefined)));
  const program = await requirePart(process.env, openapiTypescript);
  const words = ["openapi.json", "--output", "src/generated/api.generated.ts"];
  const done = await runCommand(program, words, { cwd: folder });
  if (done.code !== 0) throw new Error(lastWords(done, 30));
}
