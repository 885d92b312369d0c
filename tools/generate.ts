// Writes every file that is generated: from the CRDs, the commands, the reasons of conditions, the
// chart's values and its dashboards, the licences of what is shipped, users of a Redis.
// A test compares them with what stands in the repository.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describeApi } from "../cli/types/describe-api.ts";
import { describeFolder } from "../cli/types/read-description.ts";
import { typesText } from "../cli/types/write-types.ts";
import { generateChartValues } from "./chart-values/generate.ts";
import { generateDashboards } from "./dashboards/generate.ts";
import { generateCommandDocs } from "./generate-command-docs.ts";
import { generateCrdDocs } from "./generate-crd-docs.ts";
import { generateKustomize } from "./generate-kustomize.ts";
import { generateLicences } from "./generate-licences.ts";
import { redisAclFile } from "./generate-redis-users.ts";
import { generateTypes } from "./generate-types.ts";
import { bringPartsOf } from "./parts/groups.ts";
import { root } from "./read-crds.ts";
import { readArguments } from "./script-arguments.ts";
import { startScript } from "./start-script.ts";

/** By path below the repository's root. */
export async function generateAll(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ...(await generateTypes()),
    ...(await generateCrdDocs()),
    ...generateCommandDocs(),
    ...(await generateChartValues()),
    ...generateDashboards(),
    ...(await generateLicences()),
    ["deploy/ha/users.acl", redisAclFile()],
    ["examples/retro-board/generated/api.ts", await typesOf("examples/retro-board/backend")],
  ]);
}

async function typesOf(folder: string): Promise<string> {
  return typesText(describeApi(await describeFolder(join(root, folder), undefined)), "typescript");
}

/** The manifests for kustomize too, which want Helm, and the chart's values of now. */
async function* everything(): AsyncGenerator<readonly [string, string]> {
  yield* await generateAll();
  yield* await generateKustomize(process.env);
}

if (import.meta.main) {
  startScript("npm run generate");
  readArguments({});
  await bringPartsOf("generate");
  for await (const [path, text] of everything()) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}
