// Does what a page of the documentation says, block by block: saves the files that it shows, starts
// what it starts, pastes its lines into a shell, and compares what it shows as an answer with what
// was answered. The rules stand in CONTRIBUTING.md.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type FencedBlock, fencedBlocks, fileNamed } from "./fenced-blocks.ts";
import { comparable } from "./same-answer.ts";

export interface PageRunner {
  /** Where its files go and its lines are run. */
  readonly folder: string;
  /** `dev`: in development; `cluster`: only its files, then what says that it wants a cluster. */
  readonly kind: "dev" | "cluster";
  paste(lines: string): Promise<{ readonly printed: string; readonly code: number }>;
  /** Starts `bin/jsonplane dev …` in a terminal of its own, and waits until it says Ready. */
  startDev(words: readonly string[]): Promise<void>;
  /** Waits until that terminal has printed a line, since the last file was saved. */
  devSays(line: string): Promise<void>;
  /** Whatever was printed from now on is news. */
  mark(): void;
}

export interface Deviation {
  readonly line: number;
  readonly shown: unknown;
  readonly printed: unknown;
}

const shownAs = new Set(["json", "text"]);
const devCommand = /^bin\/jsonplane dev (.+)$/;

interface Progress {
  /** Lines that were answered to what was pasted last, without those that were compared. */
  answers: string[];
  readonly deviations: Deviation[];
}

/** Rejects at the first line that fails; answers that differ are returned. */
export async function followPage(markdown: string, runner: PageRunner): Promise<readonly Deviation[]> {
  const progress: Progress = { answers: [], deviations: [] };
  for (const block of fencedBlocks(markdown)) await follow(block, progress, runner);
  return progress.deviations;
}

async function follow(block: FencedBlock, progress: Progress, runner: PageRunner): Promise<void> {
  const file = fileNamed(block);
  if (file !== undefined) return save(file, block, runner);
  if (block.words.includes("dev")) return hear(block, runner);
  if (isPasted(block, runner)) progress.answers = await paste(block, runner);
  else if (block.language === "sh") progress.answers = [];
  else if (shownAs.has(block.language) && progress.answers.length > 0) compare(block, progress);
}

async function hear({ text }: FencedBlock, { kind, devSays }: PageRunner): Promise<void> {
  if (kind !== "dev") return;
  for (const line of text.trim().split("\n")) await devSays(line.trim());
}

function compare({ language, text, line }: FencedBlock, { answers, deviations }: Progress): void {
  // JSON is printed on one line, whatever it looks like on the page.
  const lines = language === "json" ? 1 : text.trimEnd().split("\n").length;
  const printed = answers.splice(0, lines).join("\n");
  const [shown, answered] = [comparable(text), comparable(printed)];
  if (JSON.stringify(shown) !== JSON.stringify(answered)) deviations.push({ line, shown, printed: answered });
}

async function save(file: string, block: FencedBlock, { folder, mark }: PageRunner): Promise<void> {
  mark();
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), block.text);
}

function isPasted({ language, words }: FencedBlock, { kind }: PageRunner): boolean {
  // What wants the chart is pasted by test/e2e.
  return language === "sh" && !words.includes("chart") && words.includes("cluster") === (kind === "cluster");
}

/** The lines that were answered. */
async function paste(block: FencedBlock, runner: PageRunner): Promise<string[]> {
  const [, dev] = devCommand.exec(block.text.trim()) ?? [];
  if (dev !== undefined) {
    await runner.startDev(dev.split(" "));
    return [];
  }
  const { printed, code } = await runner.paste(block.text);
  if ((code !== 0) !== block.words.includes("fails"))
    throw new Error(`Line ${block.line} ended with ${code}:\n${block.text}\n${printed}`);
  return printed.trimEnd().split("\n");
}
