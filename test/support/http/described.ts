// Turns a live project into its OpenAPI document, as its clients are sent it.

import type { LiveProject } from "../../../dataplane/config/directory.ts";
import { createDescriptions } from "../../../dataplane/openapi/descriptions.ts";

/** JSON text. */
export async function describedText(project: LiveProject, base: string): Promise<string> {
  const { bytes } = await createDescriptions().of(project, base, { runFairly: (work) => work() });
  return Buffer.from(bytes).toString();
}
