// The operator's sections of docs/benchmarks.md.

import { type SectionHeading, writeSection } from "./page.ts";

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

export type SectionName = "scale" | "upheavals";

const sections: Readonly<
  Record<SectionName, { readonly heading: SectionHeading; readonly flags: string; readonly after: string }>
> = {
  scale: {
    heading: "# The operator at scale",
    flags: "",
    after: `**Missed:** the cold start of objects that are new to the operator. The API server limits it: each project needs five Secrets,
five statuses and some Events, and kube-apiserver needs more than one of the two cores for some 200 to 260 writes a second, while
the operator needs half of one. Three in four Events of such a start are dropped: the recorder's queue is bounded, and
a metric counts them. If everything is Ready already, as after a restart, nothing is written.
`,
  },
  upheavals: { heading: "# The operator in upheavals", flags: "--upheavals ", after: "" },
};

/** Writes one section anew; the others stay. */
export async function writeFigures(name: SectionName, section: Section): Promise<void> {
  await writeSection(sections[name].heading, textOf(name, section));
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
