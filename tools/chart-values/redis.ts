// Values of where everything is kept.

import { choice, count, flag, group, list, text } from "./declare.ts";
import { image, placement } from "./workload.ts";

const bundled = group(
  "One Redis with JSON, brought by this chart: for a first try. It is one pod: while it restarts, requests that need it answer 503. For production see `external`.",
  {
    enabled: flag("Bring it. Either this or `redis.external` is used.", true),
    image: image(
      "Image with redis-server, redis-cli and the JSON module.",
      "redis",
      text("Tag: Redis 8 or newer, which has the JSON module.", "8.6"),
    ),
    modulePath: text("File of the JSON module in the image.", "/usr/local/lib/redis/modules/rejson.so", {
      minLength: 1,
    }),
    appendfsync: choice(
      "When writes reach the disk: `always` loses no acknowledged write, `everysec` up to a second of them when the node fails.",
      "everysec",
      ["always", "everysec"],
    ),
    maxmemory: text(
      "Memory for data; writes answer 507 when it is used up. It has to be below the memory limit, with room: a fork copies what changes meanwhile.",
      "640mb",
      { pattern: "^[1-9][0-9]*(kb|mb|gb)?$" },
    ),
    storage: group("Its volume.", {
      size: text(
        "Size of the PersistentVolumeClaim: three times `maxmemory` at least. An upgrade can't change it: let the claim grow itself.",
        "4Gi",
        {
          pattern: "^[1-9][0-9]*([KMGT]i?)?$",
        },
      ),
      storageClassName: text("StorageClass; empty = the cluster's default. An upgrade can't change it."),
    }),
    runAsUser: count("User and group id of redis-server, those of the image's user `redis`.", 999, [1, 2_147_483_647]),
    ...placement({ requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "1Gi" } }),
  },
);

const external = group(
  "A Redis of your own, with the JSON module: a server, Sentinels or a Cluster (docs/reference/redis.md). Set `redis.bundled.enabled: false`.",
  {
    url: text(
      "Store URL without a password, such as `redis+sentinel://s1,s2,s3/main`: for a Redis without users. Prefer existingSecret.",
      "",
      { pattern: "^(rediss?([+](sentinel|cluster))?://.+)?$" },
    ),
    existingSecret: group("Secret of the release's namespace with the store URLs, user and password included.", {
      name: text("Name of the Secret; empty = take `url`."),
      operatorKey: text("Entry with the operator's URL.", "operator-url", { minLength: 1 }),
      dataplaneKey: text("Entry with the data plane's URL.", "dataplane-url", { minLength: 1 }),
    }),
    caSecret: group("Secret with the certificate authority of `rediss` URLs.", {
      name: text("Name of the Secret; empty = the system's authorities."),
      key: text("Entry with the certificates, PEM.", "ca.crt", { minLength: 1 }),
    }),
    ports: list(
      "Ports that the NetworkPolicies let programs reach, besides those that `url` names: of servers, Sentinels and Cluster nodes.",
      { type: "integer", minimum: 1, maximum: 65_535 },
      { default: [6_379], minItems: 1, uniqueItems: true },
    ),
  },
);

export const redis = group("Where everything is kept.", { bundled, external });
