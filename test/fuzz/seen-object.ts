// A custom resource as the API server has it.

import type { Json } from "../../core/config/types.ts";
import type { Kind } from "../../core/manifests/object.ts";
import type { FleetCondition, FleetObject } from "../support/fleet.ts";

export interface SeenObject extends FleetObject {
  readonly kind: Kind;
  readonly spec: Json;
}

export function readyOf({ status }: FleetObject): FleetCondition | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready");
}
