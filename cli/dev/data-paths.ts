// Where the data of a resource or root key are, and whether they are served.

import { keyOfProject } from "../../core/config/config-keys.ts";
import { resourceNameOf, rootKeyOf } from "../../operator/model/claimed-name.ts";
import type { DataObject } from "../../operator/model/objects.ts";
import { projectRefOf } from "../../operator/model/project-objects.ts";
import type { Published } from "./compile-folder.ts";

/** `<namespace>/<project>/api/<resource>` or `<namespace>/<project>/json/<root key>`, as in URLs. */
export function dataPathOf(object: DataObject): string {
  const project = keyOfProject(projectRefOf(object));
  return object.kind === "RootKey"
    ? `${project}/json/${rootKeyOf(object)}`
    : `${project}/api/${resourceNameOf(object)}`;
}

/** By whichever object: data belong to a name. */
export function isServed(object: DataObject, published: Published): boolean {
  const parts = published.get(keyOfProject(projectRefOf(object)));
  if (object.kind === "RootKey") return parts?.rootKeys.has(rootKeyOf(object)) === true;
  return parts?.resources.has(resourceNameOf(object)) === true;
}
