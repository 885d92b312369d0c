// The site is made whole and offline: every page is reached, no link between pages is broken, nothing is fetched from elsewhere.

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSite } from "../../tools/site/build.ts";
import { addressOf } from "../../tools/site/places.ts";
import { anchorOf, renderPage } from "../../tools/site/render-page.ts";

let folder = "";
let files: ReadonlySet<string>;
const pages = new Map<string, string>();
const withoutCode = (html: string): string => html.replaceAll(/<(pre|code)[ >][\s\S]*?<\/\1>/g, "");
const attributes = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(` ${name}="([^"]*)"`, "g"))].map(([, value]) => (value ?? "").replaceAll("&amp;", "&"));

function leadsSomewhere(page: string, target: string): boolean {
  if (/^(https?|mailto|data):/.test(target)) return true;
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? page : posix.join(posix.dirname(page), path);
  return files.has(file) && (anchor === undefined || pages.get(file)?.includes(`id="${decodeURI(anchor)}"`) === true);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-site-"));
  await buildSite(folder);
  const found = await readdir(folder, { recursive: true });
  files = new Set(found);
  for (const file of found.filter((name) => name.endsWith(".html"))) {
    pages.set(file, await readFile(join(folder, file), "utf8"));
  }
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("the site", () => {
  it("has no link that leads nowhere, to a page, a heading or a picture", () => {
    const broken = [...pages].flatMap(([page, html]) => {
      const text = withoutCode(html);
      const targets = [...attributes(text, "href"), ...attributes(text, "src")];
      return targets.filter((target) => !leadsSomewhere(page, target)).map((target) => `${page}: ${target}`);
    });
    expect(broken).toEqual([]);
  });

  it("leads from every page to every page", () => {
    for (const [page, html] of pages) {
      const reached = attributes(html, "href").map((target) =>
        posix.join(posix.dirname(page), target.split("#")[0] ?? ""),
      );
      expect(
        [...pages.keys()].filter((other) => !reached.includes(other)),
        page,
      ).toEqual([]);
    }
    expect(pages.size).toBeGreaterThan(50);
  });

  it("fetches nothing from elsewhere", async () => {
    for (const [page, html] of pages) {
      expect(
        attributes(withoutCode(html), "src").filter((target) => /^(https?:)?\/\//.test(target)),
        page,
      ).toEqual([]);
      expect(html, page).not.toMatch(/<link[^>]*href="(https?:)?\/\//);
    }
    for (const name of ["site.css", "search.js"]) {
      expect(await readFile(join(folder, name), "utf8")).not.toMatch(/https?:\/\/|url\(/);
    }
  });

  it("can be searched for the headings and the text of every page", async () => {
    const text = await readFile(join(folder, "search-index.js"), "utf8");
    const entries = JSON.parse(text.slice("searchIndex(".length, text.lastIndexOf(")"))) as [
      string,
      string,
      string,
      string,
    ][];
    const indexed = new Set(entries.map(([url]) => url.split("#")[0]));
    expect([...pages.keys()].filter((page) => !indexed.has(page))).toEqual([]);
    expect(entries.find(([url]) => url === "tutorial.html#6-feature-flags")?.[3]).toContain("one JSON document");
  });
});

describe("a page of Markdown", () => {
  const render = (text: string) =>
    renderPage("docs/how-to/a.md", text, { pages: new Set(["docs/b.md"]), pictures: new Set(["docs/p.svg"]) }).html;

  it("leads to another page, to its heading, and to a picture beside it", () => {
    expect(render("[b](../b.md#two) ![p](../p.svg)")).toContain(
      '<a href="../b.html#two">b</a> <img src="../p.svg" alt="p">',
    );
  });

  it("names a file that the site does not hold, instead of leading to it", () => {
    const html = render("[x](../../deploy/x.yaml), [b](../b.md)");
    expect(html).toContain(
      '<span class="file" title="deploy/x.yaml in the repository">x</span>, <a href="../b.html">b</a>',
    );
  });

  it("has the anchors that GitHub gives to headings, doubled ones numbered", () => {
    const taken = new Map<string, number>();
    const anchors = ["If it doesn't become ready", "Objects: `/api`", "Good to know", "Good to know"].map((heading) =>
      anchorOf(heading.replaceAll("`", ""), taken),
    );
    expect(anchors).toEqual(["if-it-doesnt-become-ready", "objects-api", "good-to-know", "good-to-know-1"]);
  });

  it("has an address of its own, README.md that of its folder", () => {
    expect(["README.md", "docs/how-to/README.md", "docs/limits.md", "SECURITY.md"].map(addressOf)).toEqual([
      ...["index.html", "how-to/index.html", "limits.html", "reporting-a-weakness.html"],
    ]);
  });
});
