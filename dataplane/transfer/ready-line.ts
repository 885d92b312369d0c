// Turns a line into a write that may be carried out now: where it goes, whether the caller may do
// that, and a valid object. Throws Problem: `unknown_resource`, `unknown_root_key`, 401 and 403 as
// other writes, and as validateStored does.

import type { Operation } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { requirePermission } from "../authorize/authorize.ts";
import { type ImportedItem, needsReplace } from "./imported-file.ts";
import type { ImportPlan } from "./plan-import.ts";
import {
  deleteObject,
  type ObjectTarget,
  objectFor,
  objectTarget,
  tryObject,
  tryValue,
  valueTarget,
  type Written,
  writeObject,
  writeValue,
} from "./write-object.ts";

export interface ReadyLine {
  readonly line: number;
  /** What it is about. */
  readonly key: string;
  readonly write: () => Promise<Written>;
}

export interface AllowedLine {
  /** Whose indexes have to be declared before the write; absent = none. */
  readonly target?: ObjectTarget;
  /** Throws where the line is not valid. */
  readonly ready: () => ReadyLine;
}

/** Throws where the caller may not write so. Administrators are not above `Nobody`. */
export function allowedLine(plan: ImportPlan, { line, item }: ImportedItem): AllowedLine {
  switch (item.kind) {
    case "value":
      return { ready: () => ({ line, ...valueWrite(plan, item) }) };
    case "object": {
      const target = allowedTarget(plan, item.resource, plan.mode === "create" ? ["create"] : ["create", "update"]);
      return { target, ready: () => ({ line, ...objectWrite(plan, target, item.text) }) };
    }
    case "deleted": {
      if (plan.mode === "create") throw needsReplace();
      const target = allowedTarget(plan, item.resource, ["delete"]);
      const write = async (): Promise<Written> => (plan.isDryRun ? "deleted" : deleteObject(target, item.id));
      return { target, ready: () => ({ line, key: item.id, write }) };
    }
  }
}

function valueWrite(
  { store, project, caller, mode, isDryRun }: ImportPlan,
  { rootKey: name, text }: { readonly rootKey: string; readonly text: string },
): Omit<ReadyLine, "line"> {
  const rootKey = project.rootKeys.get(name);
  if (rootKey === undefined) throw new Problem("unknown_root_key", `The project has no RootKey ${name}`);
  requirePermission(project.config, rootKey.access.update, "update", caller);
  const target = valueTarget({ store, project, rootKey, caller });
  return { key: `json/${name}`, write: () => (isDryRun ? tryValue : writeValue)(target, text, mode) };
}

function objectWrite({ mode, isDryRun }: ImportPlan, target: ObjectTarget, text: string): Omit<ReadyLine, "line"> {
  const object = objectFor(target, text);
  return { key: object.id, write: () => (isDryRun ? tryObject : writeObject)(target, object, mode) };
}

function allowedTarget(
  { store, project, caller }: ImportPlan,
  name: string,
  operations: readonly Operation[],
): ObjectTarget {
  const resource = project.resources.get(name);
  if (resource === undefined) throw new Problem("unknown_resource", `The project has no ApiResource ${name}`);
  for (const operation of operations) {
    requirePermission(project.config, resource.config.access[operation], operation, caller);
  }
  return objectTarget(store, project, resource);
}
