// What the repository says of itself: its version and the Redis that the chart includes.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "../read-crds.ts";

export async function readVersion(): Promise<string> {
  return JSON.parse(await readFile(join(root, "package.json"), "utf8")).version;
}

/** `redis:8.6` */
export async function readRedisImage(): Promise<string> {
  const { redis } = parse(await readFile(join(root, "charts/jsonplane/values.yaml"), "utf8"));
  return `${redis.bundled.image.repository}:${redis.bundled.image.tag}`;
}
