// Writes the image for several platforms as an OCI image layout in one archive, which skopeo,
// docker and containerd read.
// https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md

import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ImageSettings, imageConfiguration } from "./archive.ts";
import { openFolders, packTar, sha256Of } from "./layer.ts";

export interface PackedLayer {
  /** Path of the layer, compressed: it is moved into the archive. */
  readonly file: string;
  /** SHA-256 of the layer before it was compressed. */
  readonly diffId: string;
}

export interface PlatformImage {
  /** `amd64` or `arm64`. */
  readonly architecture: string;
  /** The lowest first. */
  readonly layers: readonly PackedLayer[];
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const oci = "application/vnd.oci.image";

/** Returns the digest of the image, which stands for all platforms: `sha256:…`. */
export async function writeOciArchive(
  images: readonly PlatformImage[],
  settings: ImageSettings,
  file: string,
): Promise<string> {
  const layout = await mkdtemp(`${file}-`);
  const blobs = join(layout, "blobs/sha256");
  try {
    await mkdir(blobs, { recursive: true });
    const manifests: object[] = [];
    for (const image of images) {
      const platform = { architecture: image.architecture, os: "linux" };
      manifests.push({ ...(await writeManifest(blobs, image, settings)), platform });
    }
    const index = {
      schemaVersion: 2,
      mediaType: `${oci}.index.v1+json`,
      manifests,
      annotations: settings.labels ?? {},
    };
    const whole = await writeBlob(blobs, `${oci}.index.v1+json`, index);
    const tag = settings.name.slice(settings.name.lastIndexOf(":") + 1);
    const annotations = { "org.opencontainers.image.ref.name": tag, "io.containerd.image.name": settings.name };
    const entry = { schemaVersion: 2, manifests: [{ ...whole, annotations }] };
    await writeFile(join(layout, "index.json"), JSON.stringify(entry));
    await writeFile(join(layout, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
    await openFolders(layout);
    for (const blob of await readdir(blobs)) await chmod(join(blobs, blob), 0o644);
    for (const name of ["index.json", "oci-layout"]) await chmod(join(layout, name), 0o644);
    await packTar(layout, file, ["oci-layout", "index.json", "blobs"]);
    return whole.digest;
  } finally {
    await rm(layout, { recursive: true, force: true });
  }
}

async function writeManifest(blobs: string, image: PlatformImage, settings: ImageSettings): Promise<Descriptor> {
  const diffIds = image.layers.map(({ diffId }) => diffId);
  const config = await writeBlob(
    blobs,
    `${oci}.config.v1+json`,
    imageConfiguration(settings, image.architecture, diffIds),
  );
  const layers: Descriptor[] = [];
  for (const { file } of image.layers) layers.push(await moveBlob(blobs, `${oci}.layer.v1.tar+gzip`, file));
  const mediaType = `${oci}.manifest.v1+json`;
  return await writeBlob(blobs, mediaType, { schemaVersion: 2, mediaType, config, layers });
}

async function writeBlob(blobs: string, mediaType: string, value: object): Promise<Descriptor> {
  const bytes = Buffer.from(JSON.stringify(value));
  const digest = createHash("sha256").update(bytes).digest("hex");
  await writeFile(join(blobs, digest), bytes);
  return { mediaType, digest: `sha256:${digest}`, size: bytes.length };
}

async function moveBlob(blobs: string, mediaType: string, file: string): Promise<Descriptor> {
  const digest = await sha256Of(file);
  const { size } = await stat(file);
  await rename(file, join(blobs, digest));
  return { mediaType, digest: `sha256:${digest}`, size };
}
