// Packs a root file system as an image archive of one layer, as `docker save` writes it: docker,
// kind and containerd read it. Equal folders make equal bytes: files are in order and of one age.

import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openFolders, packTar, sha256Of } from "./layer.ts";

export interface ImageSettings {
  /** `jsonplane:0.1.0` */
  readonly name: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  /** `65532:65532` */
  readonly user: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly workingFolder?: string;
  readonly ports?: readonly string[];
}

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/** Writes the archive to `file`, whole or not at all. */
export async function packArchive(folder: string, settings: ImageSettings, file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const draft = await mkdtemp(`${file}-`);
  try {
    await openFolders(folder);
    await packTar(folder, join(draft, "layer.tar"), ["."]);
    const layer = await sha256Of(join(draft, "layer.tar"));
    const architecture = architectures[process.arch] ?? process.arch;
    const config = Buffer.from(JSON.stringify(imageConfiguration(settings, architecture, [layer])));
    const name = createHash("sha256").update(config).digest("hex");
    const manifest = [{ Config: `${name}.json`, RepoTags: [settings.name], Layers: ["layer.tar"] }];
    await writeFile(join(draft, `${name}.json`), config);
    await writeFile(join(draft, "manifest.json"), JSON.stringify(manifest));
    const parts = [`${name}.json`, "layer.tar", "manifest.json"];
    for (const part of parts) await chmod(join(draft, part), 0o644);
    await packTar(draft, `${file}.part`, parts);
    await rename(`${file}.part`, file);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** As OCI describes it. `layers` are the SHA-256 of each, uncompressed, the lowest first. */
export function imageConfiguration(settings: ImageSettings, architecture: string, layers: readonly string[]): object {
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", ...settings.environment };
  return {
    architecture,
    os: "linux",
    created: "1970-01-01T00:00:00Z",
    config: {
      User: settings.user,
      WorkingDir: settings.workingFolder ?? "/",
      Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
      ...(settings.entrypoint ? { Entrypoint: settings.entrypoint } : {}),
      ...(settings.command ? { Cmd: settings.command } : {}),
      ...(settings.labels ? { Labels: settings.labels } : {}),
      ...(settings.ports ? { ExposedPorts: Object.fromEntries(settings.ports.map((port) => [port, {}])) } : {}),
    },
    rootfs: { type: "layers", diff_ids: layers.map((layer) => `sha256:${layer}`) },
    history: layers.map(() => ({ created: "1970-01-01T00:00:00Z", created_by: "tools/image" })),
  };
}
