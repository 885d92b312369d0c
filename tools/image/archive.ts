// Packs a root file system as an image archive of one layer, as `docker save` writes it: docker,
// kind and containerd read it. Equal folders make equal bytes: files are in order and of one age.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { lastWords, runCommand } from "../parts/run-command.ts";

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
    await tar(folder, join(draft, "layer.tar"), ["."]);
    const layer = await sha256(join(draft, "layer.tar"));
    const config = Buffer.from(JSON.stringify(configuration(settings, layer)));
    const name = createHash("sha256").update(config).digest("hex");
    const manifest = [{ Config: `${name}.json`, RepoTags: [settings.name], Layers: ["layer.tar"] }];
    await writeFile(join(draft, `${name}.json`), config);
    await writeFile(join(draft, "manifest.json"), JSON.stringify(manifest));
    const parts = [`${name}.json`, "layer.tar", "manifest.json"];
    for (const part of parts) await chmod(join(draft, part), 0o644);
    await tar(draft, `${file}.part`, parts);
    await rename(`${file}.part`, file);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Whoever packs with another umask gets the same archive; /tmp is set already. */
async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  for (const entry of entries.filter((found) => found.isDirectory())) {
    const path = join(entry.parentPath, entry.name);
    if (path !== join(folder, "tmp")) await chmod(path, 0o755);
  }
}

function configuration(settings: ImageSettings, layer: string): object {
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", ...settings.environment };
  return {
    architecture: architectures[process.arch] ?? process.arch,
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
    rootfs: { type: "layers", diff_ids: [`sha256:${layer}`] },
    history: [{ created: "1970-01-01T00:00:00Z", created_by: "tools/image" }],
  };
}

async function tar(folder: string, file: string, names: readonly string[]): Promise<void> {
  const order = ["--format=gnu", "--sort=name", "--mtime=@0", "--numeric-owner"];
  const owners = process.getuid?.() === 0 ? [] : ["--owner=0", "--group=0"];
  const done = await runCommand("tar", [...order, ...owners, "-C", folder, "-cf", file, ...names]);
  if (done.code !== 0) throw new Error(`GNU tar couldn't pack ${folder}: ${lastWords(done)}`);
}

async function sha256(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return hash.digest("hex");
}
