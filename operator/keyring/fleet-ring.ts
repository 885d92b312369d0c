// The fleet's key ring at the operator's start: read from its Secret, or made there once. Of two
// operators that start at the same moment the slower one reads what the other made. Refuses with
// FleetRingUnusable what it can't read.

import { type Keyring, keyedHash, newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { isConflict, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
import { namespaceType, secretType } from "../kube/objects.ts";
import type { Random } from "../resolve/mint.ts";
import {
  type BesideRing,
  missingRing,
  missingSealKey,
  newRingSecret,
  type RingState,
  readRingSecret,
  readSealKey,
  restingRing,
  ringSecretName,
  sealKeyBytes,
  withSealKey,
} from "./ring-secret.ts";

export interface FleetRingDeps {
  /** Not bound to leadership: a standby needs the ring, too. */
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  /** The operator's own. */
  readonly namespace: string;
  readonly random: Random;
  /**
   * Redis holds configuration of an installation, and no person has allowed to take it over. Then
   * no ring and no seal key is made: what the former ones sealed would count for nothing.
   */
  readonly isSealed?: () => Promise<boolean>;
  /** Called where a Secret that is there had no seal key, and has a new one. */
  readonly onSealKeyMade?: () => void;
}

export interface FleetRing {
  readonly keyring: Keyring;
  readonly sealKey: Uint8Array;
}

export async function ensureFleetRing(deps: FleetRingDeps): Promise<FleetRing> {
  const newSealKey = deps.random(sealKeyBytes);
  const secret = await ensureRingSecret(deps, { sealKey: newSealKey }, () => newRing(deps));
  const { keyring } = readRingSecret(secret);
  return { keyring, sealKey: await ensureSealKey(deps, secret, newSealKey) };
}

/** Of two operators that add one at the same moment, the slower one takes what the other added. */
async function ensureSealKey(deps: FleetRingDeps, secret: KubeObject, newSealKey: Uint8Array): Promise<Uint8Array> {
  const found = readSealKey(secret);
  if (found !== undefined) return found;
  if ((await deps.isSealed?.()) === true) throw missingSealKey(`${deps.namespace}/${ringSecretName}`);
  try {
    await deps.api.replace(secretType, withSealKey(secret, newSealKey));
    deps.onSealKeyMade?.();
    return newSealKey;
  } catch (error) {
    const { namespace, name } = secret.metadata;
    const added = isConflict(error) ? await deps.api.get(secretType, { namespace, name }) : undefined;
    const sealKey = added && readSealKey(added);
    if (sealKey === undefined) throw error;
    return sealKey;
  }
}

async function newRing({ namespace, random, isSealed }: FleetRingDeps): Promise<RingState> {
  if ((await isSealed?.()) === true) throw missingRing(`${namespace}/${ringSecretName}`);
  return restingRing(parseKeyring(newKeyringText(random)));
}

/** The Secret as it is; made with `state` and what stands beside it when there is none. */
export async function ensureRingSecret(
  { api, namespace }: { readonly api: Pick<KubeApi, "get" | "create">; readonly namespace: string },
  beside: BesideRing,
  state: () => Promise<RingState>,
): Promise<KubeObject> {
  const name: ObjectName = { namespace, name: ringSecretName };
  const found = await api.get(secretType, name);
  if (found !== undefined) return found;
  try {
    return await api.create(secretType, newRingSecret(name, await state(), beside));
  } catch (error) {
    if (!isConflict(error)) throw error;
    const made = await api.get(secretType, name);
    if (made === undefined) throw error;
    return made;
  }
}

/**
 * Names an installation in its Redis: the namespace and the UID of it, and a hash that only this
 * ring gives and that outlives every rotation. So a copy of the ring in another namespace or
 * another cluster is another installation. Rejects where the namespace can't be read, and where
 * there is none.
 */
export async function installationId(api: Pick<KubeApi, "get">, namespace: string, ring: Keyring): Promise<string> {
  const found = await api.get(namespaceType, { namespace: "", name: namespace });
  if (found === undefined) throw new Error(`There is no namespace "${namespace}" any more`);
  return `${namespace}/${found.metadata.uid}/${keyedHash(ring, "content", "installation").slice(0, 32)}`;
}
