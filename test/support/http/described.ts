import type { LiveProject } from "../../../dataplane/config/directory.ts";
import { createDescriptions } from "../../../dataplane/openapi/descriptions.ts";

/** The OpenAPI document of a project, as JSON text. */
export async function describedText(project: LiveProject, base: string): Promise<string> {
  const { bytes } = await createDescriptions().of(project, base, { inTurn: (work) => work() });
  return Buffer.from(bytes).toString();
}
