// Which Project a manifest names. The field is immutable in a cluster; in dev mode, an object whose manifest names another Project is another
// object from then on.

import { isObject } from "../../core/json/json-value.ts";
import type { UncheckedObject } from "../../core/manifests/object.ts";
import type { Manifest } from "../../core/manifests/validate-manifest.ts";

/** `Project/namespace/name`: the Project itself, or the one that the object names. */
export function projectSubjectOf(manifest: Manifest): string {
  const name = manifest.kind === "Project" ? manifest.metadata.name : manifest.spec.projectRef.name;
  return `Project/${manifest.metadata.namespace}/${name}`;
}

/** False of what names no Project, like a manifest that is not valid. */
export function namesAnotherProject(object: UncheckedObject | Manifest, before: Manifest): boolean {
  if (before.kind === "Project") return false;
  const { spec } = object as UncheckedObject;
  const reference = isObject(spec) ? spec["projectRef"] : undefined;
  const name = isObject(reference) ? reference["name"] : undefined;
  return typeof name === "string" && name !== before.spec.projectRef.name;
}
