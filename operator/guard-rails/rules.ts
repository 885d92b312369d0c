// The rules by which a platform limits what the manifests of a namespace may declare, how their
// texts in a ConfigMap are read, and how the ConfigMap is followed. The chart's
// ValidatingAdmissionPolicies have the same rules, by the same names.

import { readHostRules } from "../../core/env/host-rules.ts";
import { InvalidSetting } from "../../core/env/read-settings.ts";
import { oneOf } from "../../core/env/setting-readers.ts";
import type { Logger } from "../../core/log/logger.ts";
import { dnsLabel } from "../../core/manifests/metadata.ts";
import type { KubeObject } from "../kube/api.ts";
import type { WatchSink } from "../watch/object-cache.ts";

function readAmount(text: string): number {
  const amount = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
  if (amount >= 1) return amount;
  throw new InvalidSetting(`must be a whole number of at least 1, such as "1000", not ${JSON.stringify(text)}`);
}

/**
 * Each by the name that it has in the ConfigMap, for all namespaces; `<namespace>.<name>` replaces
 * it for one. An absent rule limits nothing, but for `adoptData`.
 */
const readers = {
  /** May access rules, `spec.openapi` and `spec.console` say `Anyone`? `ReadOnly`: only to read. */
  anyone: oneOf(["Allow", "ReadOnly", "Deny"]),
  /** May a Project say `authentication.policy: Disabled`? Not where `anyone` is limited either. */
  authenticationDisabled: oneOf(["Allow", "Deny"]),
  /** The only deletionPolicy that manifests may have. */
  deletionPolicy: oneOf(["Retain", "Delete"]),
  /**
   * May a Project take over data of an earlier namespace of its name, and objects the credentials
   * that earlier ones left? Only where this says so.
   */
  adoptData: oneOf(["Allow", "Deny"]),
  /**
   * Largest `spec.limits.quota` of a Project, and what it has if it declares none; an absent
   * default is the largest.
   */
  maxQuotaObjects: readAmount,
  maxQuotaBytes: readAmount,
  maxQuotaDocumentKeys: readAmount,
  defaultQuotaObjects: readAmount,
  defaultQuotaBytes: readAmount,
  defaultQuotaDocumentKeys: readAmount,
  /** The same of `spec.limits.rate.project`. */
  maxRequestsPerSecond: readAmount,
  /** Absent = maxRequestsPerSecond. */
  maxBurst: readAmount,
  defaultRequestsPerSecond: readAmount,
  /** Absent = defaultRequestsPerSecond. */
  defaultBurst: readAmount,
  /**
   * As the setting `allowed-hosts`, which it replaces; always there, so that hosts are not lost
   * with a line.
   */
  allowedHosts: readHostRules,
} as const;

type RuleName = keyof typeof readers;
export const ruleNames = Object.keys(readers) as readonly RuleName[];

export type NamespaceRules = { readonly [Name in RuleName]?: ReturnType<(typeof readers)[Name]> };

export interface GuardRails {
  rulesOf(namespace: string): NamespaceRules;
}

const noRules: NamespaceRules = Object.freeze({});
export const noGuardRails: GuardRails = Object.freeze({ rulesOf: () => noRules });

/** Of one namespace, or of all, no default may be larger than what a manifest may declare. */
const defaultAndLargest = [
  ["defaultQuotaObjects", "maxQuotaObjects"],
  ["defaultQuotaBytes", "maxQuotaBytes"],
  ["defaultQuotaDocumentKeys", "maxQuotaDocumentKeys"],
  ["defaultRequestsPerSecond", "maxRequestsPerSecond"],
  ["defaultBurst", "maxBurst"],
] as const satisfies readonly (readonly [RuleName, RuleName])[];

/**
 * `data` of the ConfigMap. Throws InvalidSetting, which names the key and says what to write
 * instead.
 */
export function readGuardRails(data: Readonly<Record<string, string>>): GuardRails {
  const general: Record<string, unknown> = {};
  const special = new Map<string, Record<string, unknown>>();
  for (const [key, text] of Object.entries(data)) {
    const { namespace, name } = partsOf(key);
    const rules = namespace === undefined ? general : (special.get(namespace) ?? {});
    if (namespace !== undefined) special.set(namespace, rules);
    rules[name] = readRule(key, name, text);
  }
  if (!Object.hasOwn(general, "allowedHosts")) {
    throw new InvalidSetting('allowedHosts is missing: write "" where namespaces may claim no host');
  }
  checkDefaults("", general);
  // A default for all is cut to what one namespace may have.
  for (const [namespace, rules] of special) checkDefaults(`${namespace}.`, rules);
  const merged = new Map([...special].map(([namespace, rules]) => [namespace, { ...general, ...rules }]));
  return { rulesOf: (namespace) => merged.get(namespace) ?? general };
}

/** The name of a namespace has no dot. */
function partsOf(key: string): { readonly namespace?: string; readonly name: RuleName } {
  const dot = key.indexOf(".");
  const [namespace, name] = dot < 0 ? [undefined, key] : [key.slice(0, dot), key.slice(dot + 1)];
  if (!isRuleName(name)) throw new InvalidSetting(`${key} is no rule: known are ${ruleNames.join(", ")}`);
  if (namespace === undefined) return { name };
  if (!dnsLabel.test(namespace)) throw new InvalidSetting(`${key} must begin with the name of a namespace and a dot`);
  return { namespace, name };
}

function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(readers, name);
}

function readRule(key: string, name: RuleName, text: string): unknown {
  try {
    return readers[name](text);
  } catch (error) {
    if (error instanceof InvalidSetting) throw new InvalidSetting(`${key} ${error.message}`, { cause: error });
    throw error;
  }
}

function checkDefaults(prefix: string, rules: NamespaceRules): void {
  for (const [unset, largest] of defaultAndLargest) {
    const [value, max] = [rules[unset], rules[largest]];
    if (value === undefined || max === undefined || value <= max) continue;
    throw new InvalidSetting(`${prefix}${unset} must not exceed ${prefix}${largest}, which is ${max}; not ${value}`);
  }
}

export interface FollowedGuardRails {
  /** The rules that hold; none before `isKnown`. */
  current(): GuardRails;
  isKnown(): boolean;
  /**
   * What is wrong with the ConfigMap, without what is in it: probes are answered to everybody.
   * Undefined when it is in use.
   */
  fault(): string | undefined;
  /** Takes over the ConfigMap as it is now. */
  readonly sink: WatchSink;
}

/**
 * `name` of the ConfigMap. `onChange` is called when other rules hold. While the ConfigMap is
 * missing or has a mistake, the previous rules stay in effect: a mistake must neither free tenants
 * of the rules nor take anything from them. A process that has read none yet does not become the
 * leader.
 */
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
