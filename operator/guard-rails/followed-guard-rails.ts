// The platform's rules as their ConfigMap has them now. While it is missing or has a mistake, those of before hold: a mistake must neither
// free tenants of the rules nor take anything from them. A process that has read none yet does not come to lead.

import { InvalidSetting } from "../../core/env/read-settings.ts";
import type { Logger } from "../../core/log/logger.ts";
import type { KubeObject } from "../kube/api.ts";
import type { WatchSink } from "../watch/watched.ts";
import { type GuardRails, noGuardRails, readGuardRails } from "./rules.ts";

export interface FollowedGuardRails {
  /** The rules that hold; none before `isKnown`. */
  current(): GuardRails;
  isKnown(): boolean;
  /** What is wrong with the ConfigMap; undefined when it is in use. */
  fault(): string | undefined;
  /** Takes over the ConfigMap as it is now. */
  readonly sink: WatchSink;
}

/** `name` of the ConfigMap. `onChange` is called when other rules hold. */
export function createFollowedGuardRails(name: string, logger: Logger, onChange: () => void): FollowedGuardRails {
  let rails: GuardRails | undefined;
  let fault: string | undefined =
    `the ConfigMap ${name} with the guard rails was not read yet: it has to exist, and the operator to have the right to list and watch it`;
  let text = "";

  const failed = (why: string): void => {
    fault = why;
    logger.error("Guard rails can't be read; the rules of before hold", { configMap: name, error: why });
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
          failed(`the ConfigMap ${name} with the guard rails: ${error.message}`);
          return;
        }
        fault = undefined;
        logger.info("Guard rails read", { configMap: name });
        onChange();
      },
      removed() {
        text = "";
        failed(`the ConfigMap ${name} with the guard rails was deleted`);
      },
    },
  };
}

function dataOf({ data }: KubeObject): Readonly<Record<string, string>> {
  return (data as Readonly<Record<string, string>> | undefined) ?? {};
}
