import { expect, it } from "vitest";
import { requireOneRedis } from "../../../../cli/operator/run-operator.ts";

const redisTlsSecret = "jsonplane-redis-tls";

it.each([
  [{ redis: "rediss://redis.db.svc", redisTlsSecret }, undefined],
  [{ redis: "redis://u:p@redis.db.svc", redisSecret: "users" }, "--redis names a user"],
  [{ redis: "redis://redis.db.svc", redisTlsSecret }, "has to be a rediss:// URL with a host's name"],
  [{ redis: "rediss+cluster://redis.db.svc", redisTlsSecret }, "has to be a rediss:// URL with a host's name"],
  [{ redis: "rediss://10.0.0.1", redisTlsSecret }, "has to be a rediss:// URL with a host's name"],
  [{ redis: "rediss://[fd00::1]", redisTlsSecret }, "has to be a rediss:// URL with a host's name"],
  [{ redis: "rediss://redis.db.svc", redisTlsSecret, redisCaFile: "ca.crt" }, "both say what is trusted"],
])("the operator finds in %o what contradicts itself: %s", (settings, refusal) => {
  const required = () =>
    requireOneRedis({ redisSecret: undefined, redisTlsSecret: undefined, redisCaFile: undefined, ...settings });
  if (refusal === undefined) expect(required).not.toThrow();
  else expect(required).toThrow(refusal);
});
