// Compiles the program for tests of the image, into a folder of its own: dist/ may be in use by others.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface ImageBuild {
  /** What `npm run build` would write to dist/. */
  readonly built: string;
  /** An empty folder for whatever the test writes. */
  readonly folder: string;
  remove(): Promise<void>;
}

export async function buildForImage(): Promise<ImageBuild> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-image-test-"));
  const built = join(folder, "built");
  const done = await runCommand(process.execPath, ["tools/build.ts", built], { cwd: root });
  if (done.code !== 0) throw new Error(`The build failed: ${lastWords(done, 20)}`);
  return { built, folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
