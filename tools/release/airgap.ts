// Packs what an installation takes into one archive, for clusters without a network: the image for
// all platforms, the chart, the manifests, those of a Redis with high availability and its guide,
// their checksums, and a page that says what to type.

import { chmod, copyFile, cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openFolders, packTar } from "../image/layer.ts";
import { root } from "../read-crds.ts";
import { readRedisImage } from "./version.ts";
import { writeChecksums } from "./write-checksums.ts";

/** Of the repository, at the same places, so that the guide's commands work. */
const highAvailability = ["deploy/ha", "docs/how-to/production-redis.md"];

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
  for (const each of Object.values(contents.files)) await copyFile(join(folder, each), join(stage, each));
  for (const each of highAvailability) await cp(join(root, each), join(stage, each), { recursive: true });
  await writeFile(join(stage, "README.md"), readme(contents, await readRedisImage()));
  await writeChecksums(stage);
  const entries = await readdir(stage, { withFileTypes: true, recursive: true });
  for (const file of entries.filter((entry) => entry.isFile())) await chmod(join(file.parentPath, file.name), 0o644);
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
    helm upgrade --install jsonplane ${files.chart} -n jsonplane-system --create-namespace --reset-then-reuse-values \\
      --set image.repository=REGISTRY/jsonplane,image.digest=${digest}

The same lines upgrade. An upgrade that leaves out \`image.digest\` goes on with the former image.

Without Helm: \`sed 's#${repositoryOf(image)}:#REGISTRY/jsonplane:#' ${files.manifests} | kubectl apply --server-side -f -\`

## Without a registry

On each node (containerd), then \`helm upgrade --install\` without \`--set\`, or \`kubectl apply\` of ${files.manifests} as it is:

    ${importCommand(image, files.image)}

## Redis

Images of Redis aren't part of this archive. \`deploy/ha\` has manifests of one with Sentinels and of a Cluster:
docs/how-to/production-redis.md, whose \`charts/jsonplane\` is here \`${files.chart}\`. Where there is a network:

    skopeo copy --all docker://docker.io/library/${redis} oci-archive:redis.tar

and in yours, with \`image: REGISTRY/${redis}\` in \`deploy/ha\`, or \`--set redis.bundled.image.repository=REGISTRY/redis\`
for the chart's own, which is for a first try:

    skopeo copy --all oci-archive:redis.tar docker://REGISTRY/${redis}
`;
}
