// Takes the operators' Lease from whoever holds it, as if it had run out: nobody has to wait for
// the end of a dead process's Lease.

import type { TestApiServer } from "../kubernetes/api-server/api-server-access.ts";
import { apiObject } from "../kubernetes/api-server/api-server-call.ts";

export async function freeLease(api: TestApiServer): Promise<void> {
  const lease = "/apis/coordination.k8s.io/v1/namespaces/jsonplane-system/leases/jsonplane-operator";
  const contentType = "application/merge-patch+json";
  await apiObject(api, lease, { method: "PATCH", body: { spec: { holderIdentity: "" } }, contentType });
}
