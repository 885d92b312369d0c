// Knows which objects use which Secret, so that an event of a Secret leads to the Projects it
// concerns: those that keep a Secret of that name, whether it exists or not, and those that
// reference it for a password.

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
  /** Takes over an object as it is now; `before` = as it was taken over last, unless it is new. */
  put(object: CustomResource, before?: CustomResource): void;
  /** As it was taken over last. */
  remove(object: CustomResource): void;
  /** Keys of the Projects, `<namespace>/<name>`, that a Secret matters to. */
  projectsOf(namespace: string, secretName: string): readonly string[];
}

export function createSecretUsers(): SecretUsers {
  /** By `<namespace>/<Secret>`: the Projects of the objects that use it, once for each object. */
  const users = new Map<string, string[]>();

  const add = (secret: string, project: string): void => {
    const projects = users.get(secret);
    if (projects === undefined) users.set(secret, [project]);
    else projects.push(project);
  };
  const remove = (object: CustomResource): void => {
    const project = keyOfProject(projectRefOf(object));
    for (const secret of usedSecrets(object)) {
      const projects = users.get(secret) ?? [];
      const position = projects.indexOf(project);
      if (position >= 0) projects.splice(position, 1);
      if (projects.length === 0) users.delete(secret);
    }
  };

  return {
    put(object, before) {
      if (before !== undefined) remove(before);
      const project = keyOfProject(projectRefOf(object));
      for (const secret of usedSecrets(object)) add(secret, project);
    },
    remove,
    projectsOf: (namespace, secretName) => [...new Set(users.get(`${namespace}/${secretName}`))],
  };
}

/** As `<namespace>/<name>`, joined as in keyOfProject, to take less memory. */
function usedSecrets(object: CustomResource): readonly string[] {
  return usedNames(object).map((name) => [object.metadata.namespace, name].join("/"));
}

function usedNames(object: CustomResource): readonly string[] {
  return object.kind === "ProjectUser"
    ? [...ownSecretNames(object), ...referencedNames(object)]
    : ownSecretNames(object);
}

function referencedNames({ spec }: ProjectUser): readonly string[] {
  return spec.passwordSecretRef === undefined ? [] : [spec.passwordSecretRef.name];
}
