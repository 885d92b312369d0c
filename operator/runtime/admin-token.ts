// The token of all admin ports, in a Secret of the operator's own namespace: made where there is
// none, and never overwritten. Replicas mount it. The operator reads it from the API server: a pod
// can't wait for a Secret that it makes itself.

import { randomBytes } from "node:crypto";
import type { Followed } from "../../core/followed-file.ts";
import { followToken } from "../../core/http/admin-port-access.ts";
import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { KubeApi, ObjectName } from "../kube/api.ts";
import { mintPassword } from "../resolve/mint.ts";
import { ensureSecret, entriesOf } from "../secrets/installation-secret.ts";

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
  const make = () => ({ type: "Opaque", entries: { [entry]: mintPassword(randomBytes) } }) as const;
  return entriesOf(await ensureSecret(api, secret, make))[entry] ?? "";
}
