// `node tools/image/pack.ts [jsonplane|redis]…`: packs images as archives below out/, without Docker. Callers that test use
// `packImage`. Refuses what tools/image/contents.ts refuses, and anything but Linux.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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

const packings: Readonly<Record<string, () => Promise<Packing>>> = {
  jsonplane: async () => ({ settings: await jsonplaneSettings(), write: writeJsonplaneRoot }),
  redis: async () => ({ settings: redisSettings, write: (folder) => writeRedisRoot(folder, process.env) }),
};

export async function packImage(which: "jsonplane" | "redis", folder = imageFolder): Promise<PackedImage> {
  if (process.platform !== "linux") throw new Error("Packing needs Linux; elsewhere use docker");
  const packing = await packings[which]?.();
  if (!packing) throw new Error(`tools/image/pack.ts knows ${Object.keys(packings).join(" and ")}`);
  const work = await mkdtemp(join(tmpdir(), "jsonplane-image-"));
  const file = join(folder, `${which}-image.tar`);
  try {
    await packing.write(work);
    await packArchive(work, packing.settings, file);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { file, name: packing.settings.name };
}

if (import.meta.main) {
  const wanted = process.argv.slice(2);
  for (const which of wanted.length > 0 ? wanted : ["jsonplane"]) {
    const { file, name } = await packImage(which as "jsonplane" | "redis");
    console.log(`Packed ${name} as ${file}`);
  }
}
