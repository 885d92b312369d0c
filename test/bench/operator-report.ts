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
    after: `The API server limits a cold start: each project needs five Secrets and five statuses. Normal Events are limited to a hundred and
one more each second, and a metric counts those that are left out. If everything is Ready already, as after a restart, nothing is written.
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
