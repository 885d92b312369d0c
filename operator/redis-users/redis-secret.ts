// The Secret with the users of a Redis that comes with the installation: made once, in the operator's own namespace. Redis mounts its
// ACL file, the data plane takes its URL from it. Refuses with RedisSecretUnusable what it can't use, and never writes over it.

import type { JsonObject } from "../../core/config/types.ts";
import { isConflict, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
import { secretType } from "../kube/resource-types.ts";
import { mintPassword, type Random } from "../resolve/mint.ts";
import { aclFile, type RedisUser } from "./acl.ts";

/** Entries of the Secret. */
export const redisEntries = {
  /** For the operator: a store URL with its user. */
  operatorUrl: "operator-url",
  /** For the data plane. */
  dataplaneUrl: "dataplane-url",
  /** What Redis loads as its `aclfile`. */
  acl: "users.acl",
  /** Of the user jsonplane-admin, for people. */
  adminPassword: "admin-password",
} as const;

export interface RedisSecretDeps {
  readonly api: Pick<KubeApi, "get" | "create">;
  readonly secret: ObjectName;
  /** The store URL of the server, without a user. */
  readonly address: string;
  readonly random: Random;
}

/** The Secret is there and can't be used; `message` says what to do and holds nothing of it. */
export class RedisSecretUnusable extends Error {
  override readonly name = "RedisSecretUnusable";
}

/** The operator's own URL. */
export async function ensureRedisUsers(deps: RedisSecretDeps): Promise<string> {
  const { api, secret } = deps;
  const found = await api.get(secretType, secret);
  if (found !== undefined) return operatorUrlOf(found);
  try {
    return operatorUrlOf(await api.create(secretType, newSecret(deps)));
  } catch (error) {
    if (!isConflict(error)) throw error;
    const made = await api.get(secretType, secret);
    if (made === undefined) throw error;
    return operatorUrlOf(made);
  }
}

function operatorUrlOf(secret: KubeObject): string {
  const { namespace, name } = secret.metadata;
  const encoded = (secret["data"] as Readonly<Record<string, string>> | undefined)?.[redisEntries.operatorUrl];
  if (encoded !== undefined) return Buffer.from(encoded, "base64").toString("utf8");
  throw new RedisSecretUnusable(
    `Secret ${namespace}/${name} has no entry "${redisEntries.operatorUrl}". Put it back from a backup, or delete the Secret and restart operator, Redis and data plane: new users are made`,
  );
}

function newSecret({ secret: { namespace, name }, address, random }: RedisSecretDeps): JsonObject {
  const passwords: Readonly<Record<RedisUser, string>> = {
    "jsonplane-operator": mintPassword(random),
    "jsonplane-dataplane": mintPassword(random),
    "jsonplane-admin": mintPassword(random),
  };
  const entries = {
    [redisEntries.operatorUrl]: withUser(address, "jsonplane-operator", passwords),
    [redisEntries.dataplaneUrl]: withUser(address, "jsonplane-dataplane", passwords),
    [redisEntries.acl]: aclFile(passwords),
    [redisEntries.adminPassword]: passwords["jsonplane-admin"],
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: { "app.kubernetes.io/managed-by": "jsonplane" } },
    type: "Opaque",
    data: Object.fromEntries(Object.entries(entries).map(([entry, text]) => [entry, encoded(text)])),
  };
}

/** Passwords are letters and digits only: nothing is to be escaped. */
function withUser(address: string, user: RedisUser, passwords: Readonly<Record<RedisUser, string>>): string {
  return address.replace("://", `://${user}:${passwords[user]}@`);
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}
