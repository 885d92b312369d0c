// The token of all admin ports, in a Secret of the operator's own namespace: made where there is
// none, and never overwritten. Replicas mount it. The operator reads it from the API server: a pod
// can't wait for a Secret that it makes itself.

import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../core/config/types.ts";
import type { Followed } from "../../core/followed-file.ts";
import { followToken } from "../../core/http/admin-port-access.ts";
import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import { isConflict, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
import { secretType } from "../kube/objects.ts";
import { mintPassword } from "../resolve/mint.ts";

export interface AdminTokenDeps {
  readonly api: Pick<KubeApi, "get" | "create">;
  readonly secret: ObjectName;
  readonly logger: Logger;
}

const entry = "token";
const pollMs = 15_000;

/** Until it could be read, nobody has the token: metrics answer 401, and probes as ever. */
export async function followAdminTokenSecret({ api, secret, logger }: AdminTokenDeps): Promise<Followed<Buffer>> {
  const facts = { secret: `${secret.namespace}/${secret.name}` };
  return await followToken({
    read: () => ensureAdminToken(api, secret),
    // As a digest that no text is known to have.
    initial: randomBytes(32),
    pollMs,
    // Neither says anything of the token.
    onRefused: (error) => logger.error("Failed to read the metrics token", { ...facts, error: describeError(error) }),
    onChanged: () => logger.info("Metrics token changed", { audit: true, ...facts }),
  });
}

async function ensureAdminToken(api: AdminTokenDeps["api"], secret: ObjectName): Promise<string> {
  const found = await api.get(secretType, secret);
  if (found !== undefined) return tokenIn(found);
  const token = mintPassword(randomBytes);
  try {
    await api.create(secretType, newSecret(secret, token));
    return token;
  } catch (error) {
    if (!isConflict(error)) throw error;
    return await ensureAdminToken(api, secret);
  }
}

function tokenIn({ data }: KubeObject): string {
  const encoded = (data as Readonly<Record<string, string>> | undefined)?.[entry];
  return Buffer.from(encoded ?? "", "base64").toString("utf8");
}

function newSecret({ namespace, name }: ObjectName, token: string): JsonObject {
  const metadata = { name, namespace, labels: { "app.kubernetes.io/managed-by": "jsonplane" } };
  const data = { [entry]: Buffer.from(token).toString("base64") };
  return { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
}
