// Turns an ApiResource into its configuration; refuses a schema that can't be used and an index of which the schema says
// that it can't exist, with the place of each.

import type { ResourceConfig } from "../../core/config/types.ts";
import { resourceNameOf } from "../model/kinds.ts";
import type { ApiResource } from "../model/objects.ts";
import type { Result } from "../model/verdict.ts";
import type { CheckResource } from "./resource-check.ts";

export function compileResource(resource: ApiResource, checkResource: CheckResource): Result<ResourceConfig> {
  const { spec, metadata } = resource;
  const checked = checkResource(spec);
  if (!checked.ok) return checked;
  const { scope, create, read, update, delete: remove } = spec.access;
  const value: ResourceConfig = {
    name: resourceNameOf(resource),
    uid: metadata.uid,
    schema: spec.schema,
    indexes: checked.value,
    access: { create, read, update, delete: remove },
    scope: { read: scope.read, write: scope.write },
    maxObjects: spec.limits.maxObjects,
  };
  return { ...checked, value };
}
