// `npm run release -- --dry-run [--out DIR]` leaves in DIR (out/release) everything that a release
// has. Without --dry-run it pushes image and chart to `--registry HOST/OWNER`, signs both, and
// publishes the packages to `--npm-registry URL` if that is given. Refuses a version that isn't
// ready; a dry run says so and goes on.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bringPartsOf } from "../parts/groups.ts";
import { runOrThrow } from "../parts/run-command.ts";
import { root } from "../read-crds.ts";
import { readArguments, WrongArguments } from "../script-arguments.ts";
import { ScriptFailed, startScript } from "../start-script.ts";
import { buildRelease } from "./build-release.ts";
import { publish, redisDigest, requirePrograms } from "./publish.ts";
import { notReady } from "./readiness.ts";
import { readRedisImage, readVersion } from "./version.ts";

const exampleRegistry = "registry.example.org";

startScript("npm run release");
const text = { type: "string" } as const;
const options = { "dry-run": { type: "boolean" }, out: text, registry: text, "npm-registry": text } as const;
const { values: flags } = readArguments(options);
const isDry = flags["dry-run"] === true;
if (!isDry && flags.registry === undefined)
  throw new WrongArguments("It takes --dry-run, or --registry HOST/OWNER, which image and chart are pushed to");
const registry = flags.registry ?? exampleRegistry;
if (!/^[a-z0-9][a-z0-9.:-]*(\/[a-z0-9][a-z0-9._-]*)*$/.test(registry))
  throw new WrongArguments(
    `--registry is ${JSON.stringify(registry)}: it takes a host and a path, such as ghcr.io/acme`,
  );
const folder = resolve(flags.out ?? join(root, "out/release"));

const version = await readVersion();
const reasons = await notReady(version);
for (const reason of reasons) console.error(`Not ready: ${reason}`);
if (!isDry && reasons.length > 0) throw new ScriptFailed(`${version} was not released`);
if (!isDry) await requirePrograms();
await bringPartsOf("release");

const redis = await readRedisImage();
const redisImage = isDry ? undefined : `${redis}@${await redisDigest(redis)}`;
const built = await compile();
const release = await buildRelease({ folder, registry, redisImage, built: built.folder }).finally(built.remove);
console.log(`Wrote to ${folder}:`);
for (const file of release.files) console.log(`  ${file}`);
if (isDry) {
  console.log(`Not done by a dry run:
  - the digest of the bundled Redis, ${redis}, is not noted in the chart
  - nothing is pushed or published
  - nothing is signed: cosign signs image, chart and checksums.txt, and the workflow "release" attests their provenance`);
} else {
  await publish(release, { folder, registry, npmRegistry: flags["npm-registry"] });
}

interface Compiled {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Into a folder of its own, which leaves dist/ as it is. */
async function compile(): Promise<Compiled> {
  const parent = await mkdtemp(join(tmpdir(), "jsonplane-built-"));
  const folder = join(parent, "dist");
  const remove = () => rm(parent, { recursive: true, force: true });
  await runOrThrow(process.execPath, ["tools/build.ts", folder], { cwd: root });
  return { folder, remove };
}
