// Which hosts the platform lets a namespace claim, from the setting `allowed-hosts`:
// `shop=shop.example.org` for one namespace, `*={namespace}.apps.example.org` for each namespace
// its own, `*=open.example.net` for all. Refuses rules that could never match a host that its
// writer meant.

import { dnsLabel } from "../manifests/metadata.ts";
import { InvalidSetting } from "./read-settings.ts";
import { listOf } from "./setting-readers.ts";

export interface HostRule {
  /** `*` = any namespace. */
  readonly namespace: string;
  /**
   * Matches itself and every name below it; `{namespace}` in it stands for the claiming namespace.
   */
  readonly suffix: string;
}

const hostPattern = /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)*[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const maxHostLength = 253;

export function readHostRules(text: string): readonly HostRule[] {
  return listOf(text).map(readRule);
}

/** The suffix as it stands for one namespace. */
export function suffixFor(rule: HostRule, namespace: string): string {
  return rule.suffix.replaceAll("{namespace}", namespace);
}

function readRule(entry: string): HostRule {
  const [namespace = "", suffix, ...more] = entry.split("=");
  if (suffix === undefined || more.length > 0) {
    throw new InvalidSetting(
      `must list rules such as shop=shop.example.org or *={namespace}.apps.example.org; ${JSON.stringify(entry)} is none`,
    );
  }
  if (namespace !== "*" && !dnsLabel.test(namespace)) {
    throw new InvalidSetting(`must name a namespace, or * for any, before the "="; not ${JSON.stringify(namespace)}`);
  }
  const fault = suffixFault(suffix);
  if (fault !== undefined) throw new InvalidSetting(fault);
  return { namespace, suffix };
}

function suffixFault(suffix: string): string | undefined {
  const quoted = JSON.stringify(suffix);
  const dots = /^(\*?\.)/.exec(suffix)?.[1];
  if (dots !== undefined) {
    const meant = JSON.stringify(suffix.slice(dots.length));
    return `must not begin a host with "${dots}": ${meant} allows that name and every name below it`;
  }
  const filled = suffix.replaceAll("{namespace}", "n");
  if (/[{}]/.test(filled)) return `knows the placeholder {namespace} only; ${quoted} has another`;
  // Whoever may name a namespace `com` would have a claim on half of the world.
  if (suffix.split(".").at(-1)?.includes("{namespace}")) {
    return `must end in a domain of the platform after {namespace}, as {namespace}.apps.example.org does; ${quoted} does not`;
  }
  if (filled.length <= maxHostLength && hostPattern.test(filled)) return undefined;
  return `must name hosts in lower case such as apps.example.org, without scheme, port or path; ${quoted} is none`;
}
