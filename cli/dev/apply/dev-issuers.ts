// External issuers in dev mode, which fetches their keys itself: any https issuer, and one on this
// machine without TLS. There are no ServiceAccounts.

import type { WantedKeys } from "../../../core/config/wanted-keys.ts";
import { plainIssuerUrl } from "../../../core/env/issuer-rules.ts";
import { systemMonotonic, type Timers } from "../../../core/timers.ts";
import { devLimits } from "../../../operator/issuers/address-rules.ts";
import { fetchIssuer } from "../../../operator/issuers/fetch-issuer.ts";
import { FetchFailure } from "../../../operator/issuers/fetch-text.ts";
import { createIssuerFetcher } from "../../../operator/issuers/issuer-fetcher.ts";
import type { IssuerSource, IssuersContext } from "../../../operator/model/issuers.ts";

export interface DevIssuers extends IssuersContext {
  /**
   * The issuers of the projects, by `<namespace>/<name>` and the issuer's name. Resolves once they
   * are fetched, or after two seconds.
   */
  useOnly(projects: ReadonlyMap<string, ReadonlyMap<string, IssuerSource>>): Promise<void>;
  want(wanted: WantedKeys): void;
  /** `changed` is called when an issuer has changed, also if that was since the last `useOnly`. */
  onChange(changed: () => void): void;
  stop(): void;
}

/** Most issuers answer within this time: then what is printed says how it ended. */
const firstFetchMs = 2_000;

export function createDevIssuers(timers: Timers): DevIssuers {
  const { addresses: rules, refetchAfterMs } = devLimits;
  let isUnseen = false;
  let changed = (): void => {
    isUnseen = true;
  };
  let used: readonly string[] = [];
  const fetcher = createIssuerFetcher({
    fetch: async (source, signal) => {
      if (source.kind === "cluster") {
        throw new FetchFailure("dev mode has no cluster, so no ServiceAccount is let in here");
      }
      const { url, certificateAuthority } = source;
      return await fetchIssuer(url, { rules, certificateAuthority, signal });
    },
    ...{ timers, monotonic: systemMonotonic, random: Math.random, refetchAfterMs },
    onChange: () => changed(),
    observe: () => undefined,
    showsDetails: true,
  });
  return {
    isAllowed: (url) => plainIssuerUrl(url) === url && rules.mayFetch(new URL(url)),
    lookUp: (source) => fetcher.lookUp(source),
    async useOnly(projects) {
      for (const project of used) if (!projects.has(project)) fetcher.use(project, new Map());
      for (const [project, sources] of projects) fetcher.use(project, sources);
      used = [...projects.keys()];
      let stopTimer = (): void => undefined;
      const late = new Promise<void>((resolve) => {
        stopTimer = timers.after(firstFetchMs, resolve);
      });
      await Promise.race([fetcher.whenFetched(), late]);
      stopTimer();
      isUnseen = false;
    },
    want: (wanted) => fetcher.want(wanted),
    onChange(callback) {
      changed = callback;
      if (isUnseen) callback();
    },
    stop: () => fetcher.stop(),
  };
}
