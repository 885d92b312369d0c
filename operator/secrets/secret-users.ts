// Knows which objects use which Secret, so that an event of a Secret leads to the Projects it concerns: those that keep a Secret of
// that name, whether it exists or not, and those that reference it for a password.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { CustomResource, ProjectUser } from "../model/objects.ts";
import { allObjects, type ProjectObjects, projectRefOf } from "../model/project-objects.ts";
import { ownSecretNames } from "../model/secret-names.ts";

/** Names of the Secrets that jsonplane keeps for a Project and its children. */
export function secretNamesOf(objects: ProjectObjects): readonly string[] {
  return allObjects(objects).flatMap(ownSecretNames);
}

/** Names of the Secrets that users name as the source of their password. */
export function referencedSecretNames({ users }: ProjectObjects): ReadonlySet<string> {
  return new Set(users.flatMap(referencedNames));
}

export interface SecretUsers {
  /** Takes over an object as it is now. */
  put(object: CustomResource): void;
  remove(object: CustomResource): void;
  /** Keys of the Projects, `<namespace>/<name>`, that a Secret matters to. */
  projectsOf(namespace: string, secretName: string): readonly string[];
  /** Whether more than one object uses it: then the write of one concerns another. */
  isShared(namespace: string, secretName: string): boolean;
}

export function createSecretUsers(): SecretUsers {
  /** By `<namespace>/<Secret>`: how many objects of which Project use it. */
  const users = new Map<string, Map<string, number>>();
  /** By `<kind>/<namespace>/<name>`: what the object uses, as it was known last. */
  const uses = new Map<string, { readonly project: string; readonly secrets: readonly string[] }>();

  const count = (secret: string, project: string, change: 1 | -1): void => {
    const projects = users.get(secret) ?? new Map<string, number>();
    const total = (projects.get(project) ?? 0) + change;
    if (total > 0) projects.set(project, total);
    else projects.delete(project);
    if (projects.size > 0) users.set(secret, projects);
    else users.delete(secret);
  };
  const remove = (object: CustomResource): void => {
    const known = uses.get(identityOf(object));
    if (known === undefined) return;
    for (const secret of known.secrets) count(secret, known.project, -1);
    uses.delete(identityOf(object));
  };

  return {
    put(object) {
      remove(object);
      const secrets = usedNames(object).map((name) => `${object.metadata.namespace}/${name}`);
      if (secrets.length === 0) return;
      const project = keyOfProject(projectRefOf(object));
      for (const secret of secrets) count(secret, project, 1);
      uses.set(identityOf(object), { project, secrets });
    },
    remove,
    projectsOf: (namespace, secretName) => [...(users.get(`${namespace}/${secretName}`)?.keys() ?? [])],
    isShared(namespace, secretName) {
      const counts = [...(users.get(`${namespace}/${secretName}`)?.values() ?? [])];
      return counts.length > 1 || (counts[0] ?? 0) > 1;
    },
  };
}

function usedNames(object: CustomResource): readonly string[] {
  return object.kind === "ProjectUser"
    ? [...ownSecretNames(object), ...referencedNames(object)]
    : ownSecretNames(object);
}

function referencedNames({ spec }: ProjectUser): readonly string[] {
  return spec.passwordSecretRef === undefined ? [] : [spec.passwordSecretRef.name];
}

function identityOf({ kind, metadata }: CustomResource): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}
