// Vitest's global set-up of the projects that run images: compiles this tree once and packs its
// image and one of Redis into a folder that all of them read. dist/ stays as it is, since others
// may be using it.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PackedImage, packImage } from "../../../tools/image/pack.ts";
import { redisSettings } from "../../../tools/image/redis-image.ts";
import { lastWords, runCommand } from "../../../tools/parts/run-command.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** The folder; workers and the second project's set-up find it by this. */
const variable = "JSONPLANE_TEST_IMAGES";

/** Earlier versions are called `jsonplane:<version>`. */
export const imageName = "jsonplane:test";

export interface ImageBuild {
  /** What `npm run build` would write to dist/. */
  readonly built: string;
  readonly jsonplane: PackedImage;
  readonly redis: PackedImage;
}

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[variable]) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-images-"));
  const { built } = buildIn(folder);
  const done = await runCommand(process.execPath, ["tools/build.ts", built], { cwd: root });
  if (done.code !== 0) throw new Error(`The build failed: ${lastWords(done, 20)}`);
  await packImage("jsonplane", { folder, built, name: imageName });
  await packImage("redis", { folder });
  process.env[variable] = folder;
  return () => rm(folder, { recursive: true, force: true });
}

/** What the set-up made. */
export function imageBuild(): ImageBuild {
  const folder = process.env[variable];
  if (!folder) throw new Error("test/support/chart/image-build.ts is no global set-up of this project");
  return buildIn(folder);
}

function buildIn(folder: string): ImageBuild {
  return {
    built: join(folder, "built"),
    jsonplane: { file: join(folder, "jsonplane-image.tar"), name: imageName },
    redis: { file: join(folder, "redis-image.tar"), name: redisSettings.name },
  };
}
