// The image of jsonplane: its root file system (Node with its libraries, and the contents in /app)
// and its settings. Both the Dockerfile and the archive that is packed without Docker are made from
// it. `node tools/image/jsonplane-image.ts DIR` writes the root file system to DIR.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readArguments, WrongArguments } from "../script-arguments.ts";
import { startScript } from "../start-script.ts";
import type { ImageSettings } from "./archive.ts";
import { writeContents } from "./contents.ts";
import type { Target } from "./package-files.ts";
import { writeRootFolder, writeUsers } from "./root-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const user = { name: "jsonplane", id: 65_532 } as const;

/**
 * Of glibc (mallopt(3)): a buffer of 128 KiB or more has pages of its own, which the system gets
 * back with it. Without them that size grows with what was freed, up to 32 MiB, and what a burst of
 * large bodies took stays with the process.
 */
export const allocatorEnvironment = { MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_TRIM_THRESHOLD_: "131072" } as const;

/** `built` is what `npm run build` wrote; dist/ where it isn't said. */
export async function writeJsonplaneRoot(folder: string, built?: string): Promise<void> {
  await writeRootFolder(folder, [{ source: process.execPath, path: "/usr/local/bin/node" }], user);
  await writeContents(join(folder, "app"), built);
}

/** The same without Node and its libraries, which the released image has in a layer below. */
export async function writeJsonplaneLayer(folder: string, built: string, target: Target): Promise<void> {
  await writeUsers(folder, user);
  await writeContents(join(folder, "app"), built, target);
}

/** deploy/image/Dockerfile says the same; a test compares them. */
export async function jsonplaneSettings(): Promise<ImageSettings> {
  const { version, description, license } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return {
    name: `jsonplane:${version}`,
    entrypoint: ["node", "/app/dist/cli/main.js"],
    command: ["--help"],
    user: `${user.id}:${user.id}`,
    environment: { NODE_ENV: "production", ...allocatorEnvironment },
    workingFolder: "/app",
    ports: ["8080/tcp", "9090/tcp"],
    labels: {
      "org.opencontainers.image.title": "jsonplane",
      "org.opencontainers.image.description": description,
      "org.opencontainers.image.licenses": license,
      "org.opencontainers.image.version": version,
    },
  };
}

if (import.meta.main) {
  startScript("tools/image/jsonplane-image.ts");
  const [folder] = readArguments({}, ["FOLDER"]).words;
  if (folder === undefined) throw new WrongArguments("It takes the FOLDER that the root file system is written to");
  await writeJsonplaneRoot(folder);
}
