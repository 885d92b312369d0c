// A custom resource as the API server has it.

import type { Json } from "../../core/config/types.ts";
import type { Kind } from "../../core/manifests/object.ts";
import type { KubeObject } from "../support/kubernetes/api-server/api-server-objects.ts";

export interface SeenObject extends KubeObject {
  readonly kind: Kind;
  readonly spec: Json;
}
