// Pages of the documentation and the repository agree: links lead to files that are there, and a test that is named is one.

import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { validateCommand } from "../../cli/validate.ts";
import { root } from "../../tools/read-crds.ts";
import { fencedBlocks, fileNamed } from "../support/documents/fenced-blocks.ts";
import { documentationPages } from "./documentation-pages.ts";

describe.each(documentationPages)("%s", (page) => {
  it("links to files and folders that are there", async () => {
    const text = (await readFile(join(root, page), "utf8"))
      .replaceAll(/^ *```[\s\S]*?^ *```/gm, "")
      .replaceAll(/`[^`\n]*`/g, "");
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link]) => link ?? "");
    const local = links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => posix.join(posix.dirname(page), link));
    expect(local.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it("shows no kubectl command that a CRD of another group could answer: a kind goes with its group, or by category or short name", async () => {
    const text = await readFile(join(root, page), "utf8");
    const commands = [...text.matchAll(/\bkubectl\b[^`\n]*/g)].map(([command]) => command);
    const bare =
      /(?<![\w./-])(?:projects?|apiresources?|rootkeys?|projectusers?|apikeys?)(?=[\s,/.]|$)(?!\.jsonplane\.io)(?!\.yaml)/;
    expect(commands.filter((command) => bare.test(command.replaceAll(/"[^"]*"/g, '""')))).toEqual([]);
  });

  it("goes back to a revision that it names: without one, Helm takes the one before, which may be the failed one", async () => {
    const text = await readFile(join(root, page), "utf8");
    const commands = [...text.matchAll(/\bhelm rollback\b[^`\n]*/g)].map(([command]) => command.trim());
    const bare = commands.filter(
      (command) => command !== "helm rollback" && !/^helm rollback \S+ (?:REVISION|\d+)\b/.test(command),
    );
    expect(bare).toEqual([]);
  });

  it("names no test that is not there", async () => {
    const text = await readFile(join(root, page), "utf8");
    const named = [...text.matchAll(/`(test\/[\w/-]+(?:\.test)?\.ts)`/g)].map(([, path]) => path ?? "");
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

it("every manifest that a page shows is one that jsonplane validate takes; those that are saved are tried where they are used", async () => {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-manifests-"));
  const said: string[] = [];
  let shown = 0;
  for (const page of documentationPages) {
    const blocks = fencedBlocks(await readFile(join(root, page), "utf8"));
    for (const block of blocks.filter(({ text }) => text.includes("apiVersion: jsonplane.io/"))) {
      if (block.language !== "yaml" || fileNamed(block) !== undefined) continue;
      shown += 1;
      await writeFile(join(folder, "manifest.yaml"), `${block.text}${missingProject(block.text)}`);
      const lines: string[] = [];
      const code = await validateCommand(folder, (line) => lines.push(line));
      if (code !== 0) said.push(`${page}:${block.line}: ${lines.join("; ")}`);
    }
  }
  await rm(folder, { recursive: true, force: true });
  expect(said).toEqual([]);
  expect(shown).toBeGreaterThan(3);
});

/** The Project that an excerpt leaves out. */
function missingProject(text: string): string {
  const [, name] = /projectRef: \{ name: ([\w-]+) \}/.exec(text) ?? [];
  if (name === undefined || /^kind: Project$/m.test(text)) return "";
  return `---\napiVersion: jsonplane.io/v1alpha1\nkind: Project\nmetadata: { name: ${name} }\n`;
}
