// CustomResourceDefinitions of others that the chart has objects of: Gateway API and Prometheus
// operator. JSONPLANE_FOREIGN_CRDS names a folder of manifests; else they come out of the cache, or
// once out of pinned Go modules.

import { copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, type Environment, fillCacheFolder } from "./cache.ts";
import { installGo } from "./go.ts";
import { type Part, partMissing, requirePart } from "./part.ts";
import { onPath } from "./programs.ts";
import { lastWords, runCommand } from "./run-command.ts";

interface Origin {
  readonly module: string;
  readonly folder: string;
  readonly files: readonly string[];
}

/** Their versions stand in go/foreign-crds/go.mod. */
const origins: readonly Origin[] = [
  {
    module: "sigs.k8s.io/gateway-api",
    folder: "config/crd/standard",
    files: ["gateway.networking.k8s.io_httproutes.yaml"],
  },
  {
    module: "github.com/prometheus-operator/prometheus-operator",
    folder: "example/prometheus-operator-crd",
    files: ["monitoring.coreos.com_podmonitors.yaml", "monitoring.coreos.com_prometheusrules.yaml"],
  },
];

const variable = "JSONPLANE_FOREIGN_CRDS";
const folderName = "foreign-crds-1";
const ways = [installGo, `or set ${variable} to a folder with the CRDs of HTTPRoute, PodMonitor and PrometheusRule`];

/** A folder of manifests. */
export const foreignCrds: Part = {
  name: "CRDs of other projects",
  firstTime: "fetched as Go modules, some 10 seconds",
  ways,
  variable,
  async find(env) {
    const named = env[variable];
    if (named) {
      if ((await manifestsIn(named)).length > 0) return { path: named, origin: `environment variable ${variable}` };
      throw partMissing(`${variable} names ${named}, which holds no manifest`, ways);
    }
    const cached = join(cacheFolder(env), folderName);
    const present = await manifestsIn(cached);
    const isWhole = origins.every(({ files }) => files.every((file) => present.includes(file)));
    return isWhole ? { path: cached, origin: "cache" } : undefined;
  },
  async bring(env, { onProgress, signal }) {
    onProgress("downloading");
    await fillCacheFolder(cacheFolder(env), folderName, (draft) => fetch(env, draft, signal));
  },
  versionOf: async () => undefined,
};

/** Paths of manifests. Throws PartMissing when there are none. */
export async function findForeignCrds(env: Environment): Promise<readonly string[]> {
  const folder = await requirePart(env, foreignCrds);
  return (await manifestsIn(folder)).map((file) => join(folder, file));
}

async function manifestsIn(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder).catch(() => []);
  return files.filter((file) => file.endsWith(".yaml"));
}

async function fetch(env: Environment, draft: string, signal: AbortSignal): Promise<void> {
  const go = onPath("go", env);
  if (!go) throw partMissing("The CRDs of Gateway API and Prometheus operator are missing, and so is Go", ways);
  const cwd = fileURLToPath(new URL("go/foreign-crds", import.meta.url));
  const modules = origins.map(({ module }) => module);
  const done = await runCommand(go, ["mod", "download", "-json", ...modules], {
    ...{ cwd, env: { GOWORK: "off" }, signal },
  });
  if (done.code !== 0) throw partMissing(`Go couldn't fetch CRDs:\n${lastWords(done)}`, ways);
  for (const { module, folder, files } of origins) {
    for (const file of files) await copyFile(join(folderOf(module, done.stdout), folder, file), join(draft, file));
  }
}

/** `go mod download -json` prints one object after the other. */
function folderOf(module: string, printed: string): string {
  const objects = printed.split(/^(?=\{)/m).filter((text) => text.trim() !== "");
  const found = objects.map((text) => JSON.parse(text) as { Path: string; Dir: string });
  const dir = found.find(({ Path }) => Path === module)?.Dir;
  if (dir === undefined) throw partMissing(`Go said nothing of ${module}`, ways);
  return dir;
}
