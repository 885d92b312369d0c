// What the leader logs of a key ring rotation that has to wait.

import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newRingKey } from "../../../../core/config/keyring.ts";
import type { JsonObject } from "../../../../core/config/types.ts";
import { newRingSecret, ringAnnotations } from "../../../../operator/keyring/ring-secret.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import type { LeaderRedis } from "../../../../operator/runtime/open-redis.ts";
import { createRingMaintenance } from "../../../../operator/runtime/ring-maintenance.ts";
import { newSecret } from "../../../../operator/secrets/installation-secret.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { manualTime } from "../../../support/time/manual-time.ts";
import { oldRing, openedRedis } from "./opened-redis.ts";
import { cachesOver, sessionContext } from "./session-context.ts";

const secretAt = { namespace: "jsonplane-system", name: "jsonplane-keyring" };
const newKey = newRingKey(randomBytes);

let server: FakeApiServer;
let api: KubeApi;

beforeEach(async () => {
  server = await startFakeApiServer();
  api = fakeApiClient(server);
});
afterEach(async () => {
  await api.close();
  await server.close();
});

it("says at once why a rotation waits, then once a minute, and at once again when it waits for something else", async () => {
  const time = manualTime();
  const opened = await openedRedis([], {}).open({} as never);
  const secret = newSecret(
    secretAt,
    newRingSecret({ ...oldRing, keys: [...oldRing.keys, newKey] }, opened.hmacKey.export()),
  );
  const since = new Date(time.clock.now()).toISOString();
  const annotations = { [ringAnnotations.rotating]: newKey.kid, [ringAnnotations.since]: since };
  server.objects.create("/secrets", { ...secret, metadata: { ...(secret.metadata as JsonObject), annotations } });
  const lines: unknown[] = [];
  const logger = {
    info: (message: string, fields: { readonly why: string }) => void lines.push([message, fields.why]),
  };
  const context = { ...sessionContext({ api, caches: cachesOver({ api }) }), ...time, logger: logger as never };
  const ring = createRingMaintenance({ context, api, resealProject: () => undefined });
  let kids: readonly string[] | undefined;
  const read = async (_: string, command: string) => {
    if (command === "TIME") return ["1", "0"];
    if (command === "ZRANGEBYSCORE") return kids === undefined ? [] : ["a"];
    return ["1", null, JSON.stringify(kids), null];
  };
  const look = () => ring.advanceRotation({ ...opened, redisClient: { read } } as unknown as LeaderRedis);
  const waits = "Key ring rotation waits";
  for (let looks = 0; looks < 3; looks += 1) await look();
  expect(lines).toEqual([[waits, expect.stringContaining("No replica is running")]]);
  await time.advance(60_000);
  await look();
  expect(lines).toHaveLength(2);
  kids = oldRing.keys.map(({ kid }) => kid);
  await look();
  expect(lines.at(-1)).toEqual([waits, expect.stringContaining("do not have the new key")]);
  // It goes on, and waits again: that is news.
  kids = [...kids, newKey.kid];
  await look();
  expect(lines).toHaveLength(3);
});
