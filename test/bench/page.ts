// docs/benchmarks.md: one section for each benchmark, which writes its own anew and leaves the others as they are.

import { readFile, writeFile } from "node:fs/promises";

const page = new URL("../../docs/benchmarks.md", import.meta.url);

/** In the order in which they stand. */
const headings = [
  "# Benchmarks",
  "# Where the time goes",
  "# Against the version before",
  "# Against peers",
  "# Growth",
  "# Replicas, documents, Cluster",
  "# Many projects",
  "# A replica's memory after a burst",
  "# The operator at scale",
  "# The operator in upheavals",
] as const;

export type SectionHeading = (typeof headings)[number];

/** `text` begins with the heading. */
export async function writeSection(heading: SectionHeading, text: string): Promise<void> {
  const before = await readFile(page, "utf8");
  const parts = headings.map((each) => (each === heading ? text : standing(before, each)).trim());
  await writeFile(page, `${parts.filter(Boolean).join("\n\n")}\n`);
}

function standing(text: string, heading: string): string {
  const all = `\n${text}`;
  const at = all.indexOf(`\n${heading}\n`);
  if (at < 0) return "";
  const next = all.indexOf("\n# ", at + 1);
  return all.slice(at, next < 0 ? undefined : next);
}
