// What guard rails allow and forbid, one rule at a time. The operator and the chart's admission
// policies have to agree on each.

import type { JsonObject } from "../../../core/config/types.ts";

export interface GuardRailCase {
  readonly shows: string;
  /** `data` of the ConfigMap; `$namespace` stands for that of the object. */
  readonly rules: Readonly<Record<string, string>>;
  readonly kind: "Project" | "ApiResource" | "RootKey";
  readonly spec: JsonObject;
  /** Places that are refused; none = the object is allowed. */
  readonly refused: readonly string[];
}

const disabled = { authentication: { policy: "Disabled" } };
const rate = (requestsPerSecond: number, burst?: number) => ({
  limits: { rate: { project: { requestsPerSecond, ...(burst !== undefined && { burst }) } } },
});
const quota = (quotas: JsonObject) => ({ limits: { quota: quotas } });
const access = (rules: JsonObject) => ({ access: rules });

export const guardRailCases: readonly GuardRailCase[] = [
  {
    shows: "no rule forbids nothing",
    rules: {},
    kind: "Project",
    spec: { ...disabled, openapi: "Anyone" },
    refused: [],
  },
  {
    shows: "authentication may not be disabled",
    rules: { authenticationDisabled: "Deny" },
    kind: "Project",
    spec: disabled,
    refused: ["/spec/authentication/policy"],
  },
  {
    shows: "with authentication disabled everybody may write, which a namespace without writes by Anyone can't have",
    rules: { anyone: "ReadOnly" },
    kind: "Project",
    spec: { ...disabled, openapi: "Anyone" },
    refused: ["/spec/authentication/policy"],
  },
  {
    shows: "who forbids access by Anyone forbids a public reference page",
    rules: { anyone: "Deny" },
    kind: "Project",
    spec: { openapi: "Anyone" },
    refused: ["/spec/openapi"],
  },
  {
    shows: "who forbids access by Anyone forbids a public console",
    rules: { anyone: "Deny" },
    kind: "Project",
    spec: { console: "Anyone" },
    refused: ["/spec/console"],
  },
  {
    shows: "Anyone may read, and no more",
    rules: { anyone: "ReadOnly" },
    kind: "ApiResource",
    spec: access({ create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" }),
    refused: ["/spec/access/create", "/spec/access/update", "/spec/access/delete"],
  },
  {
    shows: "Anyone may do nothing",
    rules: { anyone: "Deny" },
    kind: "ApiResource",
    spec: access({ read: "Anyone" }),
    refused: ["/spec/access/read"],
  },
  {
    shows: "access of others is nobody's business",
    rules: { anyone: "Deny" },
    kind: "ApiResource",
    spec: access({ create: "Authenticated", read: "Administrators", update: "Nobody" }),
    refused: [],
  },
  {
    shows: "the default of a root key lets Anyone read it",
    rules: { anyone: "Deny" },
    kind: "RootKey",
    spec: {},
    refused: ["/spec/access/read"],
  },
  {
    shows: "a root key that Anyone may only read",
    rules: { anyone: "ReadOnly" },
    kind: "RootKey",
    spec: {},
    refused: [],
  },
  {
    shows: "a namespace may have a rule of its own, which frees it",
    rules: { anyone: "Deny", "$namespace.anyone": "Allow" },
    kind: "RootKey",
    spec: {},
    refused: [],
  },
  {
    shows: "a namespace may have a rule of its own, which binds it alone",
    rules: { "$namespace.anyone": "Deny" },
    kind: "RootKey",
    spec: {},
    refused: ["/spec/access/read"],
  },
  {
    shows: "a rule of another namespace means nothing here",
    rules: { "elsewhere.anyone": "Deny" },
    kind: "RootKey",
    spec: {},
    refused: [],
  },
  {
    shows: "data have to be kept",
    rules: { deletionPolicy: "Retain" },
    kind: "Project",
    spec: { deletionPolicy: "Delete" },
    refused: ["/spec/deletionPolicy"],
  },
  {
    shows: "data have to be kept, those of one resource too",
    rules: { deletionPolicy: "Retain" },
    kind: "ApiResource",
    spec: { deletionPolicy: "Delete" },
    refused: ["/spec/deletionPolicy"],
  },
  {
    shows: "data have to be deleted, which the default of a Project does not do",
    rules: { deletionPolicy: "Delete" },
    kind: "Project",
    spec: {},
    refused: ["/spec/deletionPolicy"],
  },
  {
    shows: "a root key without a policy has that of its Project",
    rules: { deletionPolicy: "Delete" },
    kind: "RootKey",
    spec: {},
    refused: [],
  },
  {
    shows: "quotas at their largest",
    rules: { maxQuotaObjects: "1000", maxQuotaBytes: "1000000000000", maxQuotaDocumentKeys: "10" },
    kind: "Project",
    spec: quota({ objects: 1000, bytes: 1_000_000_000_000, documentKeys: 10 }),
    refused: [],
  },
  {
    shows: "quotas that are too large",
    rules: { maxQuotaObjects: "1000", maxQuotaBytes: "1000000", maxQuotaDocumentKeys: "10" },
    kind: "Project",
    spec: quota({ objects: 1001, bytes: 1_000_001, documentKeys: 11 }),
    refused: ["/spec/limits/quota/objects", "/spec/limits/quota/bytes", "/spec/limits/quota/documentKeys"],
  },
  {
    shows: "a quota that is smaller for this namespace than for others",
    rules: { maxQuotaObjects: "5000", "$namespace.maxQuotaObjects": "10" },
    kind: "Project",
    spec: quota({ objects: 11 }),
    refused: ["/spec/limits/quota/objects"],
  },
  {
    shows: "a Project without a quota gets one, and is allowed",
    rules: { maxQuotaObjects: "1000" },
    kind: "Project",
    spec: {},
    refused: [],
  },
  {
    shows: "a rate at its largest",
    rules: { maxRequestsPerSecond: "100" },
    kind: "Project",
    spec: rate(100),
    refused: [],
  },
  {
    shows: "a rate that is too large, and with it the burst that it brings",
    rules: { maxRequestsPerSecond: "100" },
    kind: "Project",
    spec: rate(101),
    refused: ["/spec/limits/rate/project/requestsPerSecond", "/spec/limits/rate/project/burst"],
  },
  {
    shows: "a burst that is larger than the largest rate",
    rules: { maxRequestsPerSecond: "100" },
    kind: "Project",
    spec: rate(10, 101),
    refused: ["/spec/limits/rate/project/burst"],
  },
  {
    shows: "a burst for which there is a rule of its own",
    rules: { maxRequestsPerSecond: "100", maxBurst: "500" },
    kind: "Project",
    spec: rate(100, 500),
    refused: [],
  },
  {
    shows: "a host that the platform allows",
    rules: { allowedHosts: "*={namespace}.apps.test,elsewhere=shop.test" },
    kind: "Project",
    spec: { hosts: ["$namespace.apps.test", "api.$namespace.apps.test"] },
    refused: [],
  },
  {
    shows: "hosts that the platform does not allow",
    rules: { allowedHosts: "*={namespace}.apps.test,elsewhere=shop.test" },
    kind: "Project",
    spec: { hosts: ["$namespace.apps.test", "shop.test", "not$namespace.apps.test"] },
    refused: ["/spec/hosts/1", "/spec/hosts/2"],
  },
  {
    shows: "a rule about hosts that allows none",
    rules: { allowedHosts: "" },
    kind: "Project",
    spec: { hosts: ["$namespace.apps.test"] },
    refused: ["/spec/hosts/0"],
  },
];

/** What a ConfigMap always has in addition to the rules of a case. */
export const noHostsAllowed = { allowedHosts: "" } as const;

/** The case for one namespace. */
export function inNamespace({ rules, spec, ...rest }: GuardRailCase, namespace: string): GuardRailCase {
  const filled = JSON.parse(JSON.stringify({ rules, spec }).replaceAll("$namespace", namespace)) as Pick<
    GuardRailCase,
    "rules" | "spec"
  >;
  return { ...rest, ...filled };
}
