// The operator's section of docs/benchmarks.md: everything from its heading on.

import { readFile, writeFile } from "node:fs/promises";

export interface FigureLine {
  readonly what: string;
  readonly measured: string;
  readonly budget: string;
}

export interface Section {
  readonly projects: number;
  readonly objects: number;
  readonly cores: number;
  readonly lines: readonly FigureLine[];
}

const page = new URL("../../docs/benchmarks.md", import.meta.url);

export type SectionName = "scale" | "upheavals";

/** In the order in which they stand at the end of the page. */
const sections: Readonly<
  Record<SectionName, { readonly heading: string; readonly flags: string; readonly after: string }>
> = {
  scale: {
    heading: "# The operator at scale",
    flags: "",
    after: `**Missed:** the cold start of objects that nobody has ever looked at, which is bound by the API server: each project takes five Secrets,
five statuses and some Events, and kube-apiserver wants more than one of the two cores for some 200 to 260 writes a second, while
the operator takes half of one. Of the Events of such a start three in four are dropped: the recorder's queue is bounded, and
says so in a metric. Where all is Ready already, as after a restart, nothing is written.
`,
  },
  upheavals: { heading: "# The operator in upheavals", flags: "--upheavals ", after: "" },
};

/** What stands from the operator's first heading on, to be kept when the rest is written anew. */
export async function operatorSections(): Promise<string> {
  const text = await readFile(page, "utf8");
  const at = text.indexOf(sections.scale.heading);
  return at < 0 ? "" : text.slice(at);
}

/** Writes one section anew; the other one stays. */
export async function writeSection(name: SectionName, section: Section): Promise<void> {
  const text = await readFile(page, "utf8");
  const starts = Object.values(sections).map(({ heading }) => text.indexOf(heading));
  const first = Math.min(...starts.filter((at) => at >= 0), text.length);
  const kept = Object.entries(sections).map(([each, { heading }]) =>
    each === name ? textOf(name, section) : standing(text, heading),
  );
  await writeFile(
    page,
    [text.slice(0, first), ...kept]
      .map((part) => part.trimEnd())
      .filter(Boolean)
      .join("\n\n")
      .concat("\n"),
  );
}

function standing(text: string, heading: string): string {
  const at = text.indexOf(heading);
  if (at < 0) return "";
  const next = text.indexOf("\n# ", at);
  return text.slice(at, next < 0 ? undefined : next);
}

function textOf(name: SectionName, { projects, objects, cores, lines }: Section): string {
  const { heading, flags, after } = sections[name];
  return [
    heading,
    "",
    `Made by \`npm run bench:operator -- ${flags}--write\`: ${projects.toLocaleString("en")} Projects, ${objects.toLocaleString("en")} objects in all, on a real`,
    `kube-apiserver with etcd (without fsync), Redis JSON, one operator, two replicas; all of them share ${cores} cores.`,
    "",
    "| what | measured | budget |",
    "|---|---:|---:|",
    ...lines.map(({ what, measured, budget }) => `| ${what} | ${measured} | ${budget} |`),
    "",
    after,
  ].join("\n");
}
