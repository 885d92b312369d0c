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
const heading = "# The operator at scale";

/** What stands from the operator's heading on, to be kept when the rest is written anew. */
export async function operatorSection(): Promise<string> {
  const text = await readFile(page, "utf8");
  const at = text.indexOf(heading);
  return at < 0 ? "" : text.slice(at);
}

export async function writeSection({ projects, objects, cores, lines }: Section): Promise<void> {
  const text = await readFile(page, "utf8");
  const at = text.indexOf(heading);
  const before = (at < 0 ? text : text.slice(0, at)).trimEnd();
  const section = [
    heading,
    "",
    `Made by \`npm run bench:operator -- --write\`: ${projects.toLocaleString("en")} Projects, ${objects.toLocaleString("en")} objects in all, on a real`,
    `kube-apiserver with etcd (without fsync), Redis JSON, one operator, two replicas; all of them share ${cores} cores.`,
    "",
    "| what | measured | budget |",
    "|---|---:|---:|",
    ...lines.map(({ what, measured, budget }) => `| ${what} | ${measured} | ${budget} |`),
    "",
    "**Missed:** the cold start of objects that nobody has ever looked at, which is bound by the API server: each project takes five Secrets,",
    "five statuses and some Events, and kube-apiserver wants more than one of the two cores for some 200 to 260 writes a second, while",
    "the operator takes half of one. Of the Events of such a start three in four are dropped: the recorder's queue is bounded, and",
    "says so in a metric. Where all is Ready already, as after a restart, nothing is written.",
    "",
  ];
  await writeFile(page, `${before}\n\n${section.join("\n")}`);
}
