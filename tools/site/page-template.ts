// The frame around a page: the way to all others, a search, and the page's own headings.

import type { Section } from "./places.ts";
import { addressOf } from "./places.ts";
import { between, type RenderedPage } from "./render-page.ts";

export interface Framed {
  readonly page: string;
  readonly rendered: RenderedPage;
  readonly sections: readonly Section[];
  readonly titles: ReadonlyMap<string, string>;
}

export function pageTemplate({ page, rendered, sections, titles }: Framed): string {
  const up = between(page, "index.html").replace(/index\.html$/, "");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(rendered.title)}${page === "README.md" ? "" : " – jsonplane"}</title>
<link rel="stylesheet" href="${up}site.css">
<link rel="icon" href="data:,">
<script defer src="${up}search.js" data-root="${up}"></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="name" href="${up}index.html">jsonplane</a>
<div class="search" role="search">
<input type="search" placeholder="Search ( / )" aria-label="Search these pages" autocomplete="off" spellcheck="false">
<ol hidden></ol>
</div>
</header>
<div class="columns">
<nav aria-label="Pages">
<details open><summary>All pages</summary>
${sections.map((section) => sectionList(section, page, titles)).join("\n")}
</details>
</nav>
<main id="content">
${rendered.html}</main>
<aside aria-label="On this page">${ownHeadings(rendered)}</aside>
</div>
</body>
</html>
`;
}

function sectionList({ title, pages }: Section, page: string, titles: ReadonlyMap<string, string>): string {
  const links = pages.map((each) => {
    const here = each === page ? ' aria-current="page"' : "";
    return `<li><a href="${between(page, addressOf(each))}"${here}>${escaped(titles.get(each) ?? each)}</a></li>`;
  });
  const isOpen = pages.includes(page) || !["Runbooks", "Decisions"].includes(title);
  return `<details class="section"${isOpen ? " open" : ""}><summary>${title}</summary><ul>${links.join("")}</ul></details>`;
}

function ownHeadings({ headings }: RenderedPage): string {
  const own = headings.filter(({ level }) => level === 2 || level === 3);
  if (own.length < 2) return "";
  const links = own.map(
    ({ id, level, text }) => `<li class="level-${level}"><a href="#${id}">${escaped(text)}</a></li>`,
  );
  return `<p>On this page</p><ul>${links.join("")}</ul>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
