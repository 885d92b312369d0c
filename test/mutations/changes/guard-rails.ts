// Faults of the platform's rules for what tenants may declare.

import type { Mutation } from "../mutation.ts";

const checks = "operator/guard-rails/check-manifests.ts";
const applying = "operator/guard-rails/apply-guard-rails.ts";
const applied = "test/unit/operator/guard-rails/apply-guard-rails.test.ts";
const policies = "charts/jsonplane/templates/_guard-rails.tpl";
const onTheChart = "test/chart/guard-rails.test.ts";
const onTheOperator = "test/operator/guard-rails.test.ts";

export const guardRailMutations: readonly Mutation[] = [
  {
    name: "anyone-denied-lets-authentication-be-disabled",
    harm: "A namespace that may let nobody in without a login disables authentication",
    file: checks,
    find: '(authenticationDisabled === "Deny" || anyone !== "Allow")',
    replace: 'authenticationDisabled === "Deny"',
    caughtBy: [applied],
  },
  {
    name: "burst-without-a-rule-is-unbounded",
    harm: "A tenant with a small rate sends a million requests at once",
    file: checks,
    find: "maxBurst = maxRequestsPerSecond } = rules",
    replace: "maxBurst } = rules",
    caughtBy: [applied],
  },
  {
    name: "quota-left-out-is-no-quota",
    harm: "A tenant has no quota because its manifest names none",
    file: applying,
    find: "const quota = { ...limitedQuota(undefined, rules), ...limits.quota };",
    replace: "const quota = { ...limits.quota };",
    caughtBy: [applied, onTheOperator],
  },
  {
    name: "refused-deletion-policy-purges",
    harm: "Data that the platform keeps are deleted because a refused manifest says so",
    file: applying,
    find: "return { ...object, spec: { ...object.spec, deletionPolicy } };",
    replace: "return object;",
    caughtBy: [applied, onTheOperator],
  },
  {
    name: "recorded-deletion-policy-purges",
    harm: "Data of an object that was deleted while no operator ran are purged, although the platform keeps them by now",
    file: applying,
    find: 'return { ...record, policy: "Retain", entries };',
    replace: "return record;",
    caughtBy: [applied, onTheOperator],
  },
  {
    name: "declared-limits-shown-as-effective",
    harm: "A tenant reads the limits of a refused manifest as those that hold",
    file: "operator/status/object-status.ts",
    find: "...limitMembers(former, outcome),",
    replace: "effectiveLimits: { quota: object.spec.limits.quota },",
    caughtBy: ["test/unit/operator/status/object-status.test.ts", onTheOperator],
  },
  {
    name: "last-good-version-keeps-its-quota",
    harm: "Whoever declared a large quota before the platform's rule has it for good, refused but served",
    file: "operator/compile/check-project.ts",
    find: "limitPublished === undefined ? config.limits : limitPublished(config.limits)",
    replace: "config.limits",
    caughtBy: ["test/unit/operator/compile/golden.test.ts"],
  },
  {
    name: "refused-project-is-not-switched-off",
    harm: "An incident can't be ended by serving: Off while something else in the Project's spec is refused",
    file: "operator/compile/check-project.ts",
    find: "serving: project.spec.serving }",
    replace: "serving: lastGood.serving }",
    caughtBy: ["test/unit/operator/compile/golden.test.ts"],
  },
  {
    name: "names-of-one-second-take-places",
    harm: "A tenant serves any number of Projects by creating them within a second, each with an earlier name",
    file: "operator/guard-rails/project-places.ts",
    find: "return one.rank === other.rank ? one.name < other.name : one.rank < other.rank;",
    replace: "return one.name < other.name;",
    caughtBy: ["test/unit/operator/guard-rails/project-places.test.ts"],
  },
  {
    name: "refused-project-keeps-a-host-from-others",
    harm: "A tenant keeps others from a host by Projects that the platform refuses",
    file: "operator/reconcile/publish.ts",
    find: "return uid !== undefined && notAllowed?.has(uid) ? uid : undefined;",
    replace: "return undefined;",
    caughtBy: [onTheOperator],
  },
  {
    name: "refused-project-loses-its-host",
    harm: "A tightened rule takes the host from a Project that is still served under it",
    file: "operator/runtime/host-registry.ts",
    find: "holders.get(host) === metadata.uid || refused.get",
    replace: "refused.get",
    caughtBy: ["test/unit/operator/runtime/host-registry.test.ts"],
  },
  {
    name: "rules-are-forgotten-with-a-mistake",
    harm: "A typing mistake in the ConfigMap frees all tenants of every rule",
    file: "operator/guard-rails/followed-guard-rails.ts",
    find: "if (!(error instanceof InvalidSetting)) throw error;",
    replace: "if (!(error instanceof InvalidSetting)) throw error;\n          rails = noGuardRails;",
    caughtBy: ["test/unit/operator/guard-rails/followed-guard-rails.test.ts", onTheOperator],
  },
  {
    name: "changed-rules-are-not-acted-on",
    harm: "Objects that a tightened rule forbids, or a loosened one allows, stay as they were until they are edited",
    file: "operator/runtime/event-handlers.ts",
    find: '    guardRailsChanged() {\n      for (const key of keys()) add(key, "bulk");',
    replace: "    guardRailsChanged() {",
    caughtBy: [onTheOperator],
  },
  {
    name: "leads-without-rules",
    harm: "An operator that starts before its ConfigMap is there publishes what the rules forbid",
    file: "operator/runtime/leader-loop.ts",
    find: "if (!caches.synced() || guardRails?.isKnown() === false) {",
    replace: "if (!caches.synced()) {",
    caughtBy: ["test/unit/operator/runtime/leader-loop.test.ts"],
  },
  {
    name: "project-does-not-move-up",
    harm: "A Project beyond the allowed number stays refused after an older one was deleted",
    file: "operator/runtime/event-handlers.ts",
    find: "[...hosts.remove(object), ...places.remove(object.metadata)]",
    replace: "hosts.remove(object)",
    caughtBy: [onTheOperator],
  },
  {
    name: "policy-refuses-what-was-there",
    harm: "A tightened rule keeps tenants, and the operator, from any edit of an object that breaks it",
    file: policies,
    find: "(oldObject != null && oldObject.spec{{ . }} == object.spec{{ . }})",
    replace: "false",
    caughtBy: [onTheChart],
  },
  {
    name: "policy-prefers-the-rule-for-all",
    harm: "The API server holds a namespace with rules of its own to those for all",
    file: policies,
    find: "variables.rules[?(request.namespace + '.{{ . }}')].or(variables.rules[?'{{ . }}'])",
    replace: "variables.rules[?'{{ . }}'].or(variables.rules[?(request.namespace + '.{{ . }}')])",
    caughtBy: [onTheChart],
  },
];
