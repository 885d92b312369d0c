// The statuses that a leader writes, with what they cause: how long it took until an object was
// programmed is measured, and each change is logged.

import { userField } from "../../core/config/fields.ts";
import type { StoppableRecorder } from "../events/event-recorder.ts";
import type { KubeApi } from "../kube/api.ts";
import { controllerIn } from "../model/controller.ts";
import { createStatusWriter, type StatusWriter, type StatusWriterDeps } from "../status/status-writer.ts";
import type { EventHandlers } from "./event-handlers.ts";
import type { LeaderRedis } from "./open-redis.ts";
import type { OperatorContext } from "./operator-context.ts";

export interface LeaderStatusesDeps extends Pick<EventHandlers, "takeProgrammedDelay"> {
  readonly context: Pick<OperatorContext, "clock" | "settings" | "metrics" | "logger">;
  readonly api: KubeApi;
  readonly recorder: StoppableRecorder;
  readonly applyOwnWrite: StatusWriterDeps["applyOwnWrite"];
  /** Undefined until it was opened. */
  readonly redis: () => Pick<LeaderRedis, "keyRing"> | undefined;
}

export function createLeaderStatuses(deps: LeaderStatusesDeps): StatusWriter {
  const { api, recorder, applyOwnWrite } = deps;
  const { clock, settings, metrics, logger } = deps.context;
  return createStatusWriter({
    api,
    controller: controllerIn(settings.namespace),
    clock,
    recorder,
    applyOwnWrite,
    baseUrlOf: settings.baseUrlOf,
    userField(username) {
      const opened = deps.redis();
      return opened === undefined ? "" : userField(opened.keyRing.current(), username);
    },
    onProgrammed: ({ metadata }) => {
      const seconds = deps.takeProgrammedDelay(metadata.uid);
      if (seconds !== undefined) metrics.observeConfig({ kind: "programmed", seconds });
    },
    onRefused: ({ metadata }) => void deps.takeProgrammedDelay(metadata.uid),
    onWritten: ({ kind, metadata }, reason) => {
      const { namespace, name, generation } = metadata;
      logger.info("Status changed", { kind, namespace, name, generation, reason });
    },
  });
}
