// Pages of the documentation and the repository agree: links lead to files that are there, and a
// test that is named is one.

import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { expect, it } from "vitest";
import { runValidate } from "../../cli/validate/run-validate.ts";
import { root } from "../../tools/read-crds.ts";
import { fencedBlocks, fileNamed } from "../support/documents/fenced-blocks.ts";
import { documentationPages } from "./documentation-pages.ts";

/** Options and variables of `--write-out` that came after curl 7.81. */
const newerCurl = new RegExp(
  [
    "(?<![\\w-])--(?:ca-native|expand-\\w+|ip-tos|json|no-clobber|out-null|rate|remove-on-error|skip-existing|url-query|variable)(?![\\w-])",
    "%(?:header|output|time)\\{",
    "%\\{(?:certs|conn_id|header_json|num_certs|num_retries|proxy_used|urle?\\.|xfer_id)",
  ].join("|"),
);

const sourceFile = /`((?:core|operator|dataplane|cli|pages|client|tools|test)\/[\w/.-]+\.(?:ts|tsx|lua))`/g;

const texts = await Promise.all(
  documentationPages.map(async (page) => [page, await readFile(join(root, page), "utf8")] as const),
);

/** What `find` finds in all pages, each as `page: what`. */
function inPages(find: (text: string, page: string) => Iterable<string>): readonly string[] {
  return texts.flatMap(([page, text]) => [...find(text, page)].map((found) => `${page}: ${found}`));
}

it("pages link to files and folders that are there", () => {
  const broken = inPages((text, page) =>
    linksOf(text, page)
      .map(({ path }) => path)
      .filter((path) => !existsSync(join(root, path))),
  );
  expect(broken).toEqual([]);
});

it("pages link to headings that are there", () => {
  const anchors = new Map(texts.map(([page, text]) => [page, headingAnchors(text)]));
  const broken = inPages((text, page) =>
    linksOf(text, page)
      .filter(({ path, anchor }) => anchor !== "" && anchors.get(path)?.has(anchor) === false)
      .map(({ path, anchor }) => `${path}#${anchor}`),
  );
  expect(broken).toEqual([]);
});

it("pages show no kubectl command that a CRD of another group could answer: a kind goes with its group, or by category or short name", () => {
  const kinds =
    /(?<![\w./-])(?:projects?|apiresources?|rootkeys?|projectusers?|apikeys?)(?=[\s,/.]|$)(?!\.jsonplane\.io)(?!\.yaml)/;
  const ambiguous = inPages((text) =>
    [...text.matchAll(/\bkubectl\b[^`\n]*/g)]
      .map(([command]) => command)
      .filter((command) => kinds.test(command.replaceAll(/"[^"]*"/g, '""'))),
  );
  expect(ambiguous).toEqual([]);
});

it("pages go back to a revision that they name: without one, Helm takes the one before, which may be the failed one", () => {
  const bare = inPages((text) =>
    [...text.matchAll(/\bhelm rollback\b[^`\n]*/g)]
      .map(([command]) => command.trim())
      .filter((command) => command !== "helm rollback" && !/^helm rollback \S+ (?:REVISION|\d+)\b/.test(command)),
  );
  expect(bare).toEqual([]);
});

it("pages need no curl newer than 7.81, which Ubuntu 22.04 has", () => {
  const newer = inPages((text) =>
    fencedBlocks(text)
      .filter(({ language }) => language === "sh")
      .flatMap((block) => block.text.split("\n"))
      .filter((line) => newerCurl.test(line)),
  );
  expect(newer).toEqual([]);
});

it("pages name no source file or test that is not there", () => {
  const gone = inPages((text) =>
    [...text.matchAll(sourceFile)].map(([, path]) => path ?? "").filter((path) => !existsSync(join(root, path))),
  );
  expect(gone).toEqual([]);
});

it("every page is reached from README.md, by its own name or by that of its folder", () => {
  const byPage = new Map(texts);
  const reached = new Set(["README.md"]);
  for (const page of reached) {
    for (const { path } of linksOf(byPage.get(page) ?? "", page)) {
      const folder = path.replace(/\/$/, "");
      const pages = documentationPages.filter((other) => other === path || posix.dirname(other) === folder);
      for (const other of pages) reached.add(other);
    }
  }
  expect(documentationPages.filter((page) => !reached.has(page))).toEqual([]);
});

it("the glossary has its terms in alphabetical order, each once", async () => {
  const sections = (await readFile(join(root, "docs/GLOSSARY.md"), "utf8")).split(/^## /m).slice(1);
  const terms = sections.map((section) =>
    [...section.matchAll(/^\| (.+?) \| .+ \|$/gm)].slice(1).map(([, term]) => term),
  );
  for (const each of terms) expect(each).toEqual(each.toSorted((a = "", b = "") => a.localeCompare(b, "en")));
  expect(new Set(terms.flat()).size).toBe(terms.flat().length);
});

it("headings have the anchors that GitHub gives them, repeated ones numbered", () => {
  const text =
    "## If it doesn't become ready\n## Objects: `/api`\n```\n# a comment\n```\n### Good to [know](a.md)\n# Good to know";
  const anchors = ["if-it-doesnt-become-ready", "objects-api", "good-to-know", "good-to-know-1"];
  expect([...headingAnchors(text)]).toEqual(anchors);
});

it("every manifest that a page shows is one that jsonplane validate takes; those that are saved are tried where they are used", async () => {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-manifests-"));
  const complaints: string[] = [];
  let shown = 0;
  for (const [page, pageText] of texts) {
    for (const block of fencedBlocks(pageText).filter(({ text }) => text.includes("apiVersion: jsonplane.io/"))) {
      if (block.language !== "yaml" || fileNamed(block) !== undefined) continue;
      shown += 1;
      await writeFile(join(folder, "manifest.yaml"), `${block.text}${missingProject(block.text)}`);
      const lines: string[] = [];
      const code = await runValidate(folder, { strict: true }, (line) => lines.push(line));
      if (code !== 0) complaints.push(`${page}:${block.line}: ${lines.join("; ")}`);
    }
  }
  await rm(folder, { recursive: true, force: true });
  expect(complaints).toEqual([]);
  expect(shown).toBeGreaterThan(3);
});

/** The Project that an excerpt leaves out. */
function missingProject(text: string): string {
  const [, name] = /projectRef: \{ name: ([\w-]+) \}/.exec(text) ?? [];
  if (name === undefined || /^kind: Project$/m.test(text)) return "";
  return `---\napiVersion: jsonplane.io/v1alpha1\nkind: Project\nmetadata: { name: ${name} }\n`;
}

interface Link {
  /** From the repository's root. */
  readonly path: string;
  /** Without the `#`; empty where there is none. */
  readonly anchor: string;
}

/** Links of a page and its pictures, but for those to other sites. */
function linksOf(text: string, page: string): readonly Link[] {
  const prose = withoutBlocks(text).replaceAll(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? "");
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", anchor = ""] = target.split("#");
      return { path: path === "" ? page : posix.join(posix.dirname(page), path), anchor };
    });
}

function headingAnchors(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  const counts = new Map<string, number>();
  for (const [, heading = ""] of withoutBlocks(text).matchAll(/^#+ (.*)$/gm)) {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    found.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return found;
}

function withoutBlocks(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```/gm, "");
}
