// The script that shows an OpenAPI document: Scalar's, as its package for fastify serves it. A build has it as a file;
// out of a clone it is taken from the package, by the way that the package offers it.

import { readFile } from "node:fs/promises";
import Fastify from "fastify";

const built = new URL("files/viewer.js", import.meta.url);

export async function viewerScript(): Promise<Buffer> {
  try {
    return await readFile(built);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    return await viewerOfPackage();
  }
}

/** What a build writes. */
export async function viewerOfPackage(): Promise<Buffer> {
  const { default: plugin } = await import("@scalar/fastify-api-reference");
  const app = Fastify();
  await app.register(plugin, { routePrefix: "/reference", configuration: { content: { openapi: "3.1.0" } } });
  const { statusCode, rawPayload } = await app.inject("/reference/js/scalar.js");
  await app.close();
  if (statusCode !== 200) throw new Error("The viewer's package does not serve its script");
  return rawPayload;
}
