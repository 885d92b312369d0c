// Compiles the package into a folder of its own, which leaves dist/ as it is.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOrThrow } from "../parts/run-command.ts";
import { root } from "../read-crds.ts";

export interface Compiled {
  readonly folder: string;
  remove(): Promise<void>;
}

export async function compile(): Promise<Compiled> {
  const parent = await mkdtemp(join(tmpdir(), "jsonplane-built-"));
  const folder = join(parent, "dist");
  const remove = () => rm(parent, { recursive: true, force: true });
  await runOrThrow(process.execPath, ["tools/build.ts", folder], { cwd: root });
  return { folder, remove };
}
