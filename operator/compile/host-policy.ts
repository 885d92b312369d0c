// Which hosts a namespace may claim, and what to say to its users: nothing about any other namespace.

import { type HostRule, suffixFor } from "../../core/env/host-rules.ts";

export interface HostPolicy {
  mayClaim(namespace: string, host: string): boolean;
  /** What this namespace may claim: each name, and every name below it. */
  suffixesOf(namespace: string): readonly string[];
}

/** `rulesOf` a namespace is asked each time: the platform may change its rules. */
export function hostPolicy(rulesOf: (namespace: string) => readonly HostRule[]): HostPolicy {
  return {
    mayClaim: (namespace, host) => mayClaim(rulesOf(namespace), namespace, host),
    suffixesOf: (namespace) => suffixesOf(rulesOf(namespace), namespace),
  };
}

/** `host` in lower case. Without a rule for the namespace it may claim nothing. */
export function mayClaim(rules: readonly HostRule[], namespace: string, host: string): boolean {
  return suffixesOf(rules, namespace).some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
}

function suffixesOf(rules: readonly HostRule[], namespace: string): readonly string[] {
  const own = rules.filter((rule) => rule.namespace === "*" || rule.namespace === namespace);
  return [...new Set(own.map((rule) => suffixFor(rule, namespace)))];
}
