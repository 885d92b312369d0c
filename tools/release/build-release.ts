// Makes every file of a release, from the image to the checksums, and pushes nothing. Equal
// repositories, parts and Node packages make equal files.

import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { jsonplaneSettings, writeJsonplaneLayer } from "../image/jsonplane-image.ts";
import { packLayer } from "../image/layer.ts";
import { type PlatformImage, writeOciArchive } from "../image/oci-archive.ts";
import { pinImages } from "../image/pin-images.ts";
import { writeSbom } from "../image/sbom.ts";
import { findHelm } from "../parts/helm.ts";
import { baseNodeVersion, findImageBase, type Platform, platforms } from "../parts/image-base.ts";
import { kubectl } from "../parts/kubernetes.ts";
import { requirePart } from "../parts/part.ts";
import { runOrThrow } from "../parts/run-command.ts";
import { root } from "../read-crds.ts";
import { readFullRun, readRunsOnKubernetes } from "../test-run/full-run.ts";
import { treeState } from "../test-run/tree-state.ts";
import { writeAirgap } from "./airgap.ts";
import { changelogSection } from "./changelog.ts";
import { supportMatrix } from "./support-matrix.ts";
import { readVersion } from "./version.ts";
import { checksumsFile, writeChecksums } from "./write-checksums.ts";

export interface ReleasePlan {
  /** Made anew. */
  readonly folder: string;
  /** Where image and chart will be: `ghcr.io/acme`. */
  readonly registry: string;
  /** What `npm run build` wrote. */
  readonly built: string;
  /** The bundled Redis with its digest; undefined leaves it by its tag. */
  readonly redisImage?: string | undefined;
}

export interface Release {
  readonly version: string;
  /** `ghcr.io/acme/jsonplane:0.1.0@sha256:…` */
  readonly image: string;
  /** Names in the folder, in order. */
  readonly files: readonly string[];
}

/** Of the file that holds one part of the release. */
export const releaseFiles = {
  image: (version: string) => `jsonplane-image-${version}.tar`,
  chart: (version: string) => `jsonplane-chart-${version}.tgz`,
  package: (version: string) => `jsonplane-npm-${version}.tgz`,
  client: (version: string) => `jsonplane-client-npm-${version}.tgz`,
  airgap: (version: string) => `jsonplane-airgap-${version}.tar`,
  manifests: "install.yaml",
  sbom: "sbom.cdx.json",
  notes: "notes.md",
  support: "support.md",
  checksums: checksumsFile,
} as const;

export async function buildRelease(plan: ReleasePlan): Promise<Release> {
  const { folder, redisImage } = plan;
  const version = await readVersion();
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), "jsonplane-release-"));
  try {
    const image = await buildImage(plan, version, work);
    await packChart(join(folder, releaseFiles.chart(version)), { image, redisImage }, work);
    await packNpm(await stagePackage(plan.built, work), join(folder, releaseFiles.package(version)), work);
    await packNpm(join(plan.built, "client"), join(folder, releaseFiles.client(version)), work);
    await writeManifests(join(folder, releaseFiles.manifests), { image, redisImage }, work);
    const files = {
      image: releaseFiles.image(version),
      chart: releaseFiles.chart(version),
      manifests: releaseFiles.manifests,
    };
    await writeAirgap(join(folder, releaseFiles.airgap(version)), { version, image, files }, { folder, work });
    await writeSbom(join(folder, releaseFiles.sbom), await baseContents());
    await writeNotes(folder, version);
    const [run, onKubernetes, tree] = await Promise.all([
      readFullRun(root),
      readRunsOnKubernetes(root),
      treeState(root),
    ]);
    await writeFile(join(folder, releaseFiles.support), supportMatrix(run, onKubernetes, tree));
    await writeChecksums(folder);
    return { version, image, files: await sortedNames(folder) };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Writes the archive; returns the name with its digest. `work`: a folder for what lies between. */
export async function buildImage(
  { folder, registry, built }: ReleasePlan,
  version: string,
  work: string,
): Promise<string> {
  const settings = await jsonplaneSettings();
  const name = `${registry}/${settings.name}`;
  const images = await Promise.all(platforms.map((platform) => platformImage(platform, built, work)));
  const revision = (await runOrThrow("git", ["rev-parse", "HEAD"], { cwd: root })).stdout.trim();
  const labels = { ...settings.labels, "org.opencontainers.image.revision": revision };
  const file = join(folder, releaseFiles.image(version));
  return `${name}@${await writeOciArchive(images, { ...settings, name, labels }, file)}`;
}

async function platformImage(platform: Platform, built: string, work: string): Promise<PlatformImage> {
  const { architecture } = platform;
  const base = await findImageBase(process.env, platform);
  const lower = join(work, `base-${architecture}.tar.gz`);
  await copyFile(base.layer, lower);
  const content = join(work, `content-${architecture}`);
  await mkdir(content);
  await writeJsonplaneLayer(content, built, { architecture: platform.node });
  const upper = join(work, `content-${architecture}.tar.gz`);
  const diffId = await packLayer(content, upper);
  const layers = [
    { file: lower, diffId: base.diffId },
    { file: upper, diffId },
  ];
  return { architecture, layers };
}

interface Images {
  readonly image: string;
  readonly redisImage: string | undefined;
}

async function packChart(file: string, images: Images, work: string): Promise<void> {
  const chart = join(work, "jsonplane");
  await cp(join(root, "charts/jsonplane"), chart, { recursive: true });
  const [chartFile, valuesFile] = [join(chart, "Chart.yaml"), join(chart, "values.yaml")];
  const texts = { chart: await readFile(chartFile, "utf8"), values: await readFile(valuesFile, "utf8") };
  const pinned = pinImages(texts, images);
  await Promise.all([writeFile(chartFile, pinned.chart), writeFile(valuesFile, pinned.values)]);
  // Helm keeps the age of files.
  for (const entry of await readdir(chart, { recursive: true })) await utimes(join(chart, entry), 0, 0);
  await runOrThrow(await findHelm(process.env), ["package", chart, "--destination", join(work, "packed")]);
  await rename(join(work, "packed", `jsonplane-${await readVersion()}.tgz`), file);
}

/** The folder of what is published. What is not compiled comes from what Git knows. */
async function stagePackage(built: string, work: string): Promise<string> {
  const stage = join(work, "package");
  await cp(built, join(stage, "dist"), { recursive: true });
  const { files } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { files: readonly string[] };
  const wanted = files.filter((path) => path !== "dist" && !path.startsWith("!"));
  const listed = ["ls-files", "-z", "package.json", "README.md", "LICENSE", ...wanted];
  const { stdout } = await runOrThrow("git", listed, { cwd: root });
  for (const path of stdout.split("\0").filter(Boolean)) {
    await mkdir(dirname(join(stage, path)), { recursive: true });
    await copyFile(join(root, path), join(stage, path));
  }
  return stage;
}

async function packNpm(folder: string, file: string, work: string): Promise<void> {
  const options = ["--silent", "--ignore-scripts", "--pack-destination", work];
  const { stdout } = await runOrThrow("npm", ["pack", ...options], { cwd: folder });
  await rename(join(work, stdout.trim()), file);
}

async function writeManifests(file: string, { image, redisImage }: Images, work: string): Promise<void> {
  const overlay = join(work, "overlay");
  await mkdir(overlay);
  const images = [kustomizeImage("jsonplane", image), ...(redisImage ? [kustomizeImage("redis", redisImage)] : [])];
  const resources = [relative(overlay, join(root, "deploy/kustomize/default"))];
  const kustomization = { apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", resources, images };
  await writeFile(join(overlay, "kustomization.yaml"), JSON.stringify(kustomization));
  const { stdout } = await runOrThrow(await requirePart(process.env, kubectl), ["kustomize", overlay]);
  await writeFile(file, `# jsonplane ${await readVersion()}: kubectl apply --server-side -f install.yaml\n${stdout}`);
}

function kustomizeImage(name: string, image: string): object {
  const { newName, newTag, digest } = /^(?<newName>.+):(?<newTag>[\w.-]+)@(?<digest>.+)$/.exec(image)?.groups ?? {};
  return { name, newName, newTag, digest };
}

/** What lies in the layer below: the pinned Node, and Debian's packages for each platform. */
async function baseContents() {
  const bases = await Promise.all(platforms.map((platform) => findImageBase(process.env, platform)));
  return { node: baseNodeVersion, debianPackages: bases.flatMap(({ packages }) => packages) };
}

/** A dry run of a version without a section has the sentence that says so. */
async function writeNotes(folder: string, version: string): Promise<void> {
  const section = changelogSection(await readFile(join(root, "CHANGELOG.md"), "utf8"), version);
  await writeFile(join(folder, releaseFiles.notes), `${section ?? `CHANGELOG.md has no section ${version}.`}\n`);
}

async function sortedNames(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).sort();
}
