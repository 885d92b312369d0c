// Packs what an installation takes into one archive, for clusters without a network: the image for
// all platforms, the chart, the manifests, their checksums, and a page that says what to type.

import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openFolders, packTar } from "../image/layer.ts";
import { readRedisImage } from "./version.ts";
import { checksumsFile, writeChecksums } from "./write-checksums.ts";

export interface AirgapContents {
  readonly version: string;
  /** With its digest: `ghcr.io/acme/jsonplane:0.1.0@sha256:…`. */
  readonly image: string;
  /** Names of the files in the release's folder. */
  readonly files: { readonly image: string; readonly chart: string; readonly manifests: string };
}

/** Reads the files in `folder`, and writes the archive to `file`. */
export async function writeAirgap(
  file: string,
  contents: AirgapContents,
  { folder, work }: { readonly folder: string; readonly work: string },
): Promise<void> {
  const parent = join(work, "airgap");
  const name = `jsonplane-${contents.version}`;
  const stage = join(parent, name);
  await mkdir(stage, { recursive: true });
  const names = Object.values(contents.files);
  for (const each of names) await copyFile(join(folder, each), join(stage, each));
  await writeFile(join(stage, "README.md"), readme(contents, await readRedisImage()));
  await writeChecksums(stage);
  for (const each of [...names, "README.md", checksumsFile]) await chmod(join(stage, each), 0o644);
  await openFolders(parent);
  await packTar(parent, file, [name]);
}

/** Makes an image of a release known to a node by tag and digest. `archive`: a path, or `-`. */
export function importCommand(image: string, archive: string): string {
  return `ctr -n k8s.io images import --base-name ${repositoryOf(image)} --digests ${archive}`;
}

function repositoryOf(image: string): string {
  return image.replace(/:[\w.-]+@.*$/, "");
}

function readme({ image, version, files }: AirgapContents, redis: string): string {
  const [, digest = ""] = image.split("@");
  return `# jsonplane ${version}, without a network

Check the files: \`sha256sum --check checksums.txt\`. ${files.image} is the image for amd64 and arm64.

## With a registry of your own

    skopeo copy --all --preserve-digests oci-archive:${files.image} docker://REGISTRY/jsonplane:${version}
    helm install jsonplane ${files.chart} -n jsonplane-system --create-namespace \\
      --set image.repository=REGISTRY/jsonplane,image.digest=${digest}

Without Helm: \`sed 's#${repositoryOf(image)}:#REGISTRY/jsonplane:#' ${files.manifests} | kubectl apply --server-side -f -\`

## Without a registry

On each node (containerd), then \`helm install\` or \`kubectl apply\` as they are:

    ${importCommand(image, files.image)}

## Redis

A Redis of your own needs nothing more: \`redis.bundled.enabled=false\` and \`redis.external\`. The one that
the chart includes isn't part of this archive. Where there is a network:

    skopeo copy --all docker://docker.io/library/${redis} oci-archive:redis.tar

and in yours, with \`--set redis.bundled.image.repository=REGISTRY/redis\`:

    skopeo copy --all oci-archive:redis.tar docker://REGISTRY/${redis}
`;
}
