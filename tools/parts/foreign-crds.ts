// CustomResourceDefinitions of others that the chart has objects of: Gateway API and Prometheus operator. JSONPLANE_FOREIGN_CRDS names a
// folder of manifests; else they come out of the cache, or once out of pinned Go modules. Refuses with PartMissing.

import { copyFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cachedFolder, cacheFolder, type Environment } from "./cache.ts";
import { partMissing } from "./part-missing.ts";
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

const name = "foreign-crds-1";
const ways = [
  "install Go 1.21 or newer (Debian, Ubuntu: sudo apt-get install golang; macOS: brew install go) and run this again",
  "or set JSONPLANE_FOREIGN_CRDS to a folder with the CRDs of HTTPRoute, PodMonitor and PrometheusRule",
];

/** Paths of manifests. */
export async function findForeignCrds(env: Environment): Promise<readonly string[]> {
  const folder =
    env["JSONPLANE_FOREIGN_CRDS"] ?? (await cachedFolder(cacheFolder(env), name, (draft) => fetch(env, draft)));
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml"));
  if (files.length > 0) return files.map((file) => join(folder, file));
  throw partMissing(`${folder} holds no manifest of a CustomResourceDefinition`, ways);
}

async function fetch(env: Environment, draft: string): Promise<void> {
  const go = onPath("go", env);
  if (!go) throw partMissing("The CRDs of Gateway API and Prometheus operator are missing, and so is Go", ways);
  const cwd = fileURLToPath(new URL("go/foreign-crds", import.meta.url));
  const modules = origins.map(({ module }) => module);
  const done = await runCommand(go, ["mod", "download", "-json", ...modules], { cwd, env: { GOWORK: "off" } });
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
