// Which objects are more than the platform allows of their kind. The oldest have a place, so that a new object never takes one from another.
// Of one second, which is the resolution of creation timestamps, those come first that had a place, then those seen first.

import type { Child, CustomResource, Project } from "../model/objects.ts";
import { isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import type { NamespaceRules } from "./rules.ts";

const maxRules = {
  Project: "maxProjects",
  ApiResource: "maxResources",
  RootKey: "maxRootKeys",
  ProjectUser: "maxUsers",
  ApiKey: "maxApiKeys",
} as const;

/** How many the platform allows: Projects of a namespace, children of a Project. */
export function maxOf(kind: CustomResource["kind"], rules: NamespaceRules): number {
  return rules[maxRules[kind]] ?? Number.POSITIVE_INFINITY;
}

/** `placeOf` a Project: its number among those of its namespace, beginning with 1. */
export function withoutPlace(
  { project, resources, rootKeys, users, keys }: ProjectObjects,
  rules: NamespaceRules,
  placeOf: (project: Project) => number,
): ReadonlySet<CustomResource> {
  const surplus = [resources, rootKeys, users, keys].flatMap((children) => childrenWithoutPlace(children, rules));
  const isSurplus = project !== undefined && placeOf(project) > maxOf(project.kind, rules);
  return new Set<CustomResource>(isSurplus ? [project, ...surplus] : surplus);
}

/** Whether the status, as it was read last, says that the object was among the allowed ones; undefined = it says nothing yet. */
export function hadPlace({ status }: CustomResource): boolean | undefined {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return ready && ready.reason !== "NotAllowed";
}

/** `children` of one kind. */
function childrenWithoutPlace(children: readonly Child[], rules: NamespaceRules): readonly Child[] {
  const max = children[0] === undefined ? 0 : maxOf(children[0].kind, rules);
  if (children.length <= max) return [];
  const counted = children.filter((child) => !isDeleting(child));
  return counted.sort(byAge).slice(max);
}

/** Equals stay in the order of the index, which is that of the watch. */
function byAge(one: Child, other: Child): number {
  const age = Date.parse(one.metadata.creationTimestamp) - Date.parse(other.metadata.creationTimestamp);
  return age === 0 ? Number(hadPlace(other) === true) - Number(hadPlace(one) === true) : age;
}
