// The loss of stored data that a person has accepted for one Project, by its annotation.

import { acceptLossAnnotation } from "../../core/config/store-fields.ts";
import type { Project } from "../model/objects.ts";

/** As long as names of losses may ever become; what is longer names none. */
const maxNameCharacters = 64;

export function acceptedLossOf(project: Project | undefined): string | undefined {
  const name = (project?.metadata.annotations as Readonly<Record<string, string>> | undefined)?.[acceptLossAnnotation];
  return name !== undefined && name.length <= maxNameCharacters ? name : undefined;
}
