// `node tools/image/pack.ts [jsonplane|redis]…`: packs images as archives below out/, without
// Docker. Callers that test use `packImage`. Refuses what tools/image/contents.ts refuses, and
// anything but Linux.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments, WrongArguments } from "../script-arguments.ts";
import { startScript } from "../start-script.ts";
import { type ImageSettings, packArchive } from "./archive.ts";
import { jsonplaneSettings, writeJsonplaneRoot } from "./jsonplane-image.ts";
import { redisSettings, writeRedisRoot } from "./redis-image.ts";

export interface PackedImage {
  /** Path of the archive. */
  readonly file: string;
  /** What a pod calls it. */
  readonly name: string;
}

export const imageFolder = fileURLToPath(new URL("../../out", import.meta.url));

interface Packing {
  readonly settings: ImageSettings;
  write(folder: string): Promise<void>;
}

export interface PackOptions {
  /** Where the archive goes. */
  readonly folder?: string;
  /** What `npm run build` wrote; dist/ where it isn't said. */
  readonly built?: string;
  /** Another name than `jsonplane:<version>`, such as an upgrade wants. */
  readonly name?: string;
}

const packings: Readonly<Record<string, (built?: string) => Promise<Packing>>> = {
  jsonplane: async (built) => ({
    settings: await jsonplaneSettings(),
    write: (folder) => writeJsonplaneRoot(folder, built),
  }),
  redis: async () => ({ settings: redisSettings, write: (folder) => writeRedisRoot(folder, process.env) }),
};

export async function packImage(which: "jsonplane" | "redis", options: PackOptions = {}): Promise<PackedImage> {
  if (process.platform !== "linux") throw new Error("Packing needs Linux; elsewhere use docker");
  const packing = await packings[which]?.(options.built);
  if (!packing)
    throw new WrongArguments(`${which} is not an image that can be packed: ${Object.keys(packings).join(" and ")} are`);
  const work = await mkdtemp(join(tmpdir(), "jsonplane-image-"));
  const name = options.name ?? packing.settings.name;
  const file = join(options.folder ?? imageFolder, `${which}-image.tar`);
  try {
    await packing.write(work);
    await packArchive(work, { ...packing.settings, name }, file);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { file, name };
}

if (import.meta.main) {
  startScript("tools/image/pack.ts");
  const { words: wanted } = readArguments({}, ["[jsonplane | redis]…"]);
  for (const which of wanted.length > 0 ? wanted : ["jsonplane"]) {
    const { file, name } = await packImage(which as "jsonplane" | "redis");
    console.log(`Packed ${name} as ${file}`);
  }
}
