// The fleet's key ring at the operator's start: read from its Secret, or made there once. Of two
// operators that start at the same moment the slower one reads what the other made. Refuses with
// FleetRingUnusable what it can't read.

import { type Keyring, keyedHash, newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { isConflict, type KubeApi, type KubeObject } from "../kube/api.ts";
import { namespaceType, secretType } from "../kube/objects.ts";
import type { Random } from "../resolve/mint.ts";
import { ensureSecret } from "../secrets/installation-secret.ts";
import {
  hmacKeyBytes,
  missingHmacKey,
  missingRing,
  newRingSecret,
  readHmacKey,
  readRingSecret,
  ringSecretName,
  withHmacKey,
} from "./ring-secret.ts";

export interface FleetRingDeps {
  /** Not bound to leadership: a standby needs the ring, too. */
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  /** The operator's own. */
  readonly namespace: string;
  readonly random: Random;
  /**
   * Redis holds configuration of an installation, and no person has allowed to take it over. Then
   * no ring and no HMAC key is made: what was made with the former ones would count for nothing.
   */
  readonly isSealed?: () => Promise<boolean>;
  /** Called where a Secret that is there had no HMAC key, and has a new one. */
  readonly onHmacKeyMade?: () => void;
}

export async function ensureFleetRing(
  deps: FleetRingDeps,
): Promise<{ readonly keyring: Keyring; readonly hmacKey: Uint8Array }> {
  const newHmacKey = deps.random(hmacKeyBytes);
  const ring = { namespace: deps.namespace, name: ringSecretName };
  const secret = await ensureSecret(deps.api, ring, async () => newRingSecret(await newRing(deps), newHmacKey));
  const { keyring } = readRingSecret(secret);
  return { keyring, hmacKey: await ensureHmacKey(deps, secret, newHmacKey) };
}

/** Of two operators that add one at the same moment, the slower one takes what the other added. */
async function ensureHmacKey(deps: FleetRingDeps, secret: KubeObject, newHmacKey: Uint8Array): Promise<Uint8Array> {
  const found = readHmacKey(secret);
  if (found !== undefined) return found;
  if ((await deps.isSealed?.()) === true) throw missingHmacKey(`${deps.namespace}/${ringSecretName}`);
  try {
    await deps.api.replace(secretType, withHmacKey(secret, newHmacKey));
    deps.onHmacKeyMade?.();
    return newHmacKey;
  } catch (error) {
    const { namespace, name } = secret.metadata;
    const added = isConflict(error) ? await deps.api.get(secretType, { namespace, name }) : undefined;
    const hmacKey = added && readHmacKey(added);
    if (hmacKey === undefined) throw error;
    return hmacKey;
  }
}

async function newRing({ namespace, random, isSealed }: FleetRingDeps): Promise<Keyring> {
  if ((await isSealed?.()) === true) throw missingRing(`${namespace}/${ringSecretName}`);
  return parseKeyring(newKeyringText(random));
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
