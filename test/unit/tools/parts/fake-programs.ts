// Programs of a test's own folder that stand in for real ones: they say what they are told to say.

import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { BringOptions } from "../../../../tools/parts/part.ts";

export interface FakePrograms {
  readonly folder: string;
  /** A path in the folder. */
  at(path: string): string;
  /** A program that says these words, whatever it is asked; returns its path. */
  says(path: string, words: string): Promise<string>;
  /** A shell script; returns its path. */
  script(path: string, body: string): Promise<string>;
  remove(): Promise<void>;
}

export async function fakePrograms(): Promise<FakePrograms> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-parts-"));
  const script = async (path: string, body: string) => {
    const whole = join(folder, path);
    await mkdir(dirname(whole), { recursive: true });
    await writeFile(whole, `#!/bin/sh\n${body}\n`);
    await chmod(whole, 0o755);
    return whole;
  };
  return {
    folder,
    at: (path) => join(folder, path),
    says: (path, words) => script(path, `echo '${words}'`),
    script,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Options for `bring` of a part, and what it reported of its progress. */
export function noting(): BringOptions & { readonly progress: string[] } {
  const progress: string[] = [];
  return { progress, onProgress: (state) => void progress.push(state), signal: new AbortController().signal };
}
