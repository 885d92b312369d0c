// `make image`: builds the image with Docker where a Docker daemon answers, else packs the same as
// an archive and says how to load it. Refuses when the build fails.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { lastWords, runCommand } from "../parts/run-command.ts";
import { readArguments } from "../script-arguments.ts";
import { ScriptFailed, startScript } from "../start-script.ts";
import { dockerAnswers } from "./docker.ts";
import { packImage } from "./pack.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

async function buildWithDocker(): Promise<void> {
  const { version } = JSON.parse(await readFile(`${root}/package.json`, "utf8"));
  const asked = await runCommand("git", ["rev-parse", "HEAD"], { cwd: root });
  const settings = [`VERSION=${version}`, `REVISION=${asked.code === 0 ? asked.stdout.trim() : "unknown"}`];
  const args = settings.flatMap((setting) => ["--build-arg", setting]);
  const name = `jsonplane:${version}`;
  const done = await runCommand("docker", ["build", "--file", "deploy/image/Dockerfile", "--tag", name, ...args, "."], {
    cwd: root,
    timeout: 30 * 60_000,
  });
  if (done.code !== 0) throw new ScriptFailed(`docker build failed:\n${lastWords(done, 50)}`);
  console.log(`Docker has ${name}`);
}

startScript("make image");
readArguments({});
if (await dockerAnswers()) await buildWithDocker();
else {
  const { file, name } = await packImage("jsonplane");
  console.log(`No Docker daemon answers, so the image was packed without it: ${file} holds ${name}`);
  console.log("Load it with: docker load --input, kind load image-archive, or ctr --namespace k8s.io images import");
}
