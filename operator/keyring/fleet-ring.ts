// The fleet's key ring at the operator's start: read from its Secret, or made there once. Of two operators that start at the
// same moment the slower one reads what the other made. Refuses with FleetRingUnusable what it can't read.

import { type Keyring, newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { isConflict, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
import { secretType } from "../kube/resource-types.ts";
import type { Random } from "../resolve/mint.ts";
import { newRingSecret, readRingSecret, ringSecretName } from "./ring-secret.ts";

export interface FleetRingDeps {
  /** Not bound to leadership: a standby needs the ring, too. */
  readonly api: Pick<KubeApi, "get" | "create">;
  /** The operator's own. */
  readonly namespace: string;
  readonly random: Random;
  readonly signal?: AbortSignal;
}

export async function ensureFleetRing(deps: FleetRingDeps): Promise<Keyring> {
  const secret = await ensureRingSecret(deps, () => parseKeyring(newKeyringText(deps.random)));
  return readRingSecret(secret).keyring;
}

/** The Secret as it is; made with `ring` when there is none. */
export async function ensureRingSecret(
  { api, namespace, signal }: Pick<FleetRingDeps, "api" | "namespace" | "signal">,
  ring: () => Keyring,
): Promise<KubeObject> {
  const name: ObjectName = { namespace, name: ringSecretName };
  const options = signal === undefined ? {} : { signal };
  const found = await api.get(secretType, name, options);
  if (found !== undefined) return found;
  try {
    return await api.create(secretType, newRingSecret(namespace, ring()), options);
  } catch (error) {
    if (!isConflict(error)) throw error;
    const made = await api.get(secretType, name, options);
    if (made === undefined) throw error;
    return made;
  }
}
