// What the leader does about the fleet's key ring: takes a rotation one step further, with the
// Secret, Redis and the replicas as they are. A rotation that waits says in the log what for.

import { randomBytes } from "node:crypto";
import type { ProjectRef } from "../../core/config/types.ts";
import { rotateFleetRing } from "../keyring/rotate-fleet-ring.ts";
import { createSealedConfig } from "../keyring/sealed-config.ts";
import type { KubeApi, KubeObject } from "../kube/api.ts";
import { createReminders } from "../observe/repeated-failures.ts";
import { liveReplicas } from "../publish/replicas.ts";
import type { LeaderRedis } from "./open-redis.ts";
import type { OperatorContext } from "./operator-context.ts";

export interface RingMaintenanceDeps {
  readonly context: Pick<OperatorContext, "settings" | "clock" | "monotonic" | "audit" | "logger">;
  /** Bound to leadership. */
  readonly api: KubeApi;
  /**
   * Has what is published of the project sealed again by the project's own worker: nothing else
   * publishes it meanwhile.
   */
  readonly resealProject: (ref: ProjectRef) => void;
}

export interface RingMaintenance {
  /**
   * Says that the key that proves Secrets of credentials was missing in the ring's Secret, or
   * another one.
   */
  hmacKeyWritten(why: "Missing" | "Changed"): void;
  /** Answers with the ring's Secret as it was found. */
  advanceRotation(opened: LeaderRedis): Promise<KubeObject | undefined>;
}

export function createRingMaintenance({ context, api, resealProject }: RingMaintenanceDeps): RingMaintenance {
  const { settings, clock, audit, logger } = context;
  const reminders = createReminders(context.monotonic);
  let waitsFor: string | undefined;

  const hmacKeyWritten = (why: "Missing" | "Changed"): void => {
    audit.write({ action: "seal_key_written", facts: { why } });
    logger.warn("Wrote the seal key into the key ring's Secret", { why });
  };

  return {
    hmacKeyWritten,
    async advanceRotation({ publisher, keyRing, hmacKey, redisClient, store }) {
      let secret: KubeObject | undefined;
      const rotation = await rotateFleetRing({
        api,
        namespace: settings.namespace,
        random: randomBytes,
        clock,
        keyRing,
        hmacKey: hmacKey.export(),
        annotations: () => store.annotations(),
        replicas: () => liveReplicas(redisClient),
        config: createSealedConfig({
          publisher,
          resealProject: async (ref) => resealProject(ref),
          sealingKid: () => keyRing.current().keys[0].kid,
        }),
        onStep: (step) => audit.write({ action: "fleet_ring_step", facts: { step } }),
        onAdopted: (kids) => audit.write({ action: "fleet_ring_adopted", facts: { keys: kids.join(",") } }),
        onHmacKeyRestored: () => hmacKeyWritten("Changed"),
        onSecret: (found) => {
          secret = found;
        },
        onWaiting(why) {
          if (reminders.isDue(why)) logger.info("Key ring rotation waits", { why });
          waitsFor = why;
        },
      });
      if (rotation !== "waiting" && waitsFor !== undefined) {
        reminders.over(waitsFor);
        waitsFor = undefined;
      }
      return secret;
    },
  };
}
