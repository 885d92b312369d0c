// Which pages of the repository are pages of the site, in which order and under which address. A new page in docs/ finds its place by
// its folder.

export interface Section {
  readonly title: string;
  /** Paths from the repository's root. */
  readonly pages: readonly string[];
}

const outside: Readonly<Record<string, string>> = {
  "README.md": "index.html",
  "CHANGELOG.md": "changelog.html",
  "CONTRIBUTING.md": "contributing.html",
  "SECURITY.md": "reporting-a-weakness.html",
};

interface Shelf {
  readonly title: string;
  /** First on the shelf, in this order. */
  readonly first: readonly string[];
  /** Whatever else begins so follows, by name. */
  readonly rest?: string;
}

const shelves: readonly Shelf[] = [
  { title: "Learn", first: ["README.md", "docs/tutorial.md"] },
  {
    title: "Do",
    first: ["docs/how-to/README.md", "docs/queries.md", "docs/limits.md", "docs/openapi.md", "docs/gitops.md"],
    rest: "docs/how-to/",
  },
  {
    title: "Run",
    first: ["docs/install.md", "docs/operations.md", "docs/observability.md", "docs/scaling.md", "docs/values.md"],
  },
  {
    title: "Look up",
    first: ["docs/reference/custom-resources.md", "docs/reference/http.md", "docs/reference/errors.md"],
    rest: "docs/reference/",
  },
  {
    title: "Understand",
    first: ["docs/explanation/consistency.md", "docs/explanation/security.md", "docs/ARCHITECTURE.md"],
    rest: "docs/explanation/",
  },
  { title: "Shown", first: ["docs/security.md", "docs/chaos.md", "docs/benchmarks.md"] },
  { title: "Runbooks", first: [], rest: "docs/runbooks/" },
  { title: "Decisions", first: ["docs/adr/README.md"], rest: "docs/adr/" },
  { title: "Project", first: ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"], rest: "docs/" },
];

export function isPage(path: string): boolean {
  return path in outside || (path.startsWith("docs/") && path.endsWith(".md"));
}

/** Every page stands in one section. */
export function sectionsOf(pages: readonly string[]): readonly Section[] {
  const open = new Set(pages);
  return shelves.map(({ title, first, rest }) => {
    const named = first.filter((page) => open.delete(page));
    const others = [...open].filter((page) => rest !== undefined && page.startsWith(rest) && isLast(page, rest)).sort();
    for (const page of others) open.delete(page);
    return { title, pages: [...named, ...others] };
  });
}

/** The last shelf takes what lies in docs/ itself; pages of a folder wait for theirs. */
function isLast(page: string, rest: string): boolean {
  return rest !== "docs/" || !page.slice(rest.length).includes("/");
}

/** Address below the site's root. */
export function addressOf(page: string): string {
  const named = outside[page];
  if (named !== undefined) return named;
  return page
    .replace(/^docs\//, "")
    .replace(/README\.md$/, "index.html")
    .replace(/\.md$/, ".html");
}
