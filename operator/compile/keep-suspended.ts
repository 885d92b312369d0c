// Turns a suspended Project into what was published before, whatever was applied since. Only deleted objects are withdrawn, because a
// deleted login must end even while reconciling is paused.

import type { ProjectParts } from "../../core/config/types.ts";
import { childrenOf, isDeleting, type ProjectObjects } from "../model/project-objects.ts";

interface Published {
  readonly uid: string;
}

/** `kept` is the last good configuration of the Project itself, and its issuers that the platform still allows. */
export function keepSuspended(
  objects: ProjectObjects,
  published: ProjectParts,
  kept: Pick<ProjectParts, "project" | "issuers">,
): ProjectParts {
  const present = childrenOf(objects).filter((child) => !isDeleting(child));
  const uids = new Set(present.map((child) => child.metadata.uid));
  return {
    ...kept,
    signing: published.signing,
    resources: keepUids(published.resources, uids),
    rootKeys: keepUids(published.rootKeys, uids),
    users: keepUids(published.users, uids),
    keys: keepUids(published.keys, uids),
  };
}

/** UIDs of the children that the parts serve. */
export function servedUids({ resources, rootKeys, users, keys }: ProjectParts): ReadonlySet<string> {
  const configs: readonly Published[] = [resources, rootKeys, users, keys].flatMap((map) => [...map.values()]);
  return new Set(configs.map((config) => config.uid));
}

function keepUids<C extends Published>(map: ReadonlyMap<string, C>, uids: ReadonlySet<string>): ReadonlyMap<string, C> {
  return new Map([...map].filter(([, config]) => uids.has(config.uid)));
}
