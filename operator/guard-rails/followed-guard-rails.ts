// The platform's rules as their ConfigMap has them now. While it is missing or has a mistake, the previous rules stay in effect: a mistake
// must neither free tenants of the rules nor take anything from them. A process that has read none yet does not become the leader.

import { InvalidSetting } from "../../core/env/read-settings.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { KubeObject } from "../kube/api.ts";
import type { WatchSink } from "../watch/watched.ts";
import { type GuardRails, noGuardRails, readGuardRails } from "./rules.ts";

export interface FollowedGuardRails {
  /** The rules that hold; none before `isKnown`. */
  current(): GuardRails;
  isKnown(): boolean;
  /** What is wrong with the ConfigMap, without what is in it: probes are answered to everybody. Undefined when it is in use. */
  fault(): string | undefined;
  /** Takes over the ConfigMap as it is now. */
  readonly sink: WatchSink;
}

/** `name` of the ConfigMap. `onChange` is called when other rules hold. */
export function createFollowedGuardRails(name: string, logger: Logger, onChange: () => void): FollowedGuardRails {
  let rails: GuardRails | undefined;
  const what = `the ConfigMap ${name} with the guard rails`;
  let fault: string | undefined =
    `${what} has not been read yet: it must exist, and the operator needs the right to list and watch it`;
  let text = "";

  const failed = (why: string, detail: string): void => {
    fault = why;
    const effect = rails === undefined ? "not leading until they can" : "keeping the previous rules";
    logger.error(`Guard rails can't be read; ${effect}`, { configMap: name, error: detail });
  };

  return {
    current: () => rails ?? noGuardRails,
    isKnown: () => rails !== undefined,
    fault: () => fault,
    sink: {
      upserted(configMap) {
        const data = dataOf(configMap);
        const before = text;
        text = JSON.stringify(data);
        // Its labels, or the first list of a new watch.
        if (text === before) return;
        try {
          rails = readGuardRails(data);
        } catch (error) {
          if (!(error instanceof InvalidSetting)) throw error;
          failed(`${what} has a mistake: the operator's log says which`, error.message);
          return;
        }
        fault = undefined;
        logger.info("Guard rails read", { configMap: name });
        onChange();
      },
      removed() {
        text = "";
        failed(`${what} was deleted`, "it was deleted");
      },
    },
  };
}

function dataOf({ data }: KubeObject): Readonly<Record<string, string>> {
  return (data as Readonly<Record<string, string>> | undefined) ?? {};
}
