// A cluster of kind (Kubernetes in Docker), where both are: up, loading an image archive, down.
// Refuses when kind fails, with what it said.

import { mkdir, rm } from "node:fs/promises";
import { dockerAnswers } from "../image/docker.ts";
import type { Environment } from "../parts/cache.ts";
import { onPath } from "../parts/programs.ts";
import { lastWords, runCommand } from "../parts/run-command.ts";
import { type ClusterLayout, clusterLayout } from "./layout.ts";

export async function kindIsHere(env: Environment): Promise<boolean> {
  return onPath("kind", env) !== undefined && (await dockerAnswers());
}

/** JSONPLANE_KIND_NODE names the image of the node, and with it the version of Kubernetes. */
export async function upKindCluster(env: Environment, number = 0): Promise<ClusterLayout> {
  const layout = clusterLayout(env, number);
  const present = (await kind(["get", "clusters"])).split("\n").includes(layout.name);
  await mkdir(layout.folder, { recursive: true });
  const image = env.JSONPLANE_KIND_NODE ? ["--image", env.JSONPLANE_KIND_NODE] : [];
  const which = ["--name", layout.name, "--kubeconfig", layout.kubeconfig];
  if (present) await kind(["export", "kubeconfig", ...which]);
  else await kind(["create", "cluster", ...which, ...image, "--wait", "120s"]);
  return layout;
}

export async function loadIntoKind(layout: ClusterLayout, archive: string): Promise<void> {
  await kind(["load", "image-archive", archive, "--name", layout.name]);
}

export async function downKindCluster(env: Environment, number = 0): Promise<void> {
  const layout = clusterLayout(env, number);
  await kind(["delete", "cluster", "--name", layout.name, "--kubeconfig", layout.kubeconfig]);
  await rm(layout.folder, { recursive: true, force: true });
}

async function kind(args: readonly string[]): Promise<string> {
  const done = await runCommand("kind", args, { timeout: 15 * 60_000 });
  if (done.code !== 0) throw new Error(`kind ${args.join(" ")}: ${lastWords(done, 20)}`);
  return done.stdout;
}
