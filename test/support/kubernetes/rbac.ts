// Grants the operator's rights of deploy/rbac on a test's API server, and compares rights with
// requests: both become sets of "verb resource", such as "patch projects.jsonplane.io/status" or
// "get secrets". Refuses rules with wildcards.

import { readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import type { TestApiServer } from "./api-server/api-server-access.ts";
import { apiObject } from "./api-server/api-server-call.ts";
import type { TestUser } from "./api-server/api-server-users.ts";

export const operatorUser = { namespace: "jsonplane-system", serviceAccount: "jsonplane-operator" } as const;

/** "cluster", or the namespaces that an operator of the namespaced form watches. */
export type RbacForm = "cluster" | readonly string[];

const folder = new URL("../../../deploy/rbac/", import.meta.url);

/** Applies one of the forms, and returns the user that has its rights. */
export async function grantOperator(server: TestApiServer, form: RbacForm): Promise<typeof operatorUser> {
  const watched = form === "cluster" ? [undefined] : form;
  await applyFile(server, "operator.yaml");
  for (const namespace of watched) await applyFile(server, fileOf(form), namespace);
  return operatorUser;
}

function fileOf(form: RbacForm): string {
  return form === "cluster" ? "cluster.yaml" : "namespaced.yaml";
}

/**
 * Replaces members of rules: `path` = of a Role or ClusterRole, `members` by their paths below its
 * rules, such as `0/verbs`.
 */
export async function changeRule(
  server: TestApiServer,
  path: string,
  members: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const body = Object.entries(members).map(([member, value]) => ({ op: "replace", path: `/rules/${member}`, value }));
  await apiObject(server, path, { method: "PATCH", body, contentType: "application/json-patch+json" });
}

/** Applies users.yaml: what the cluster's own view, edit and admin give. */
export function grantUsers(server: TestApiServer): Promise<void> {
  return applyFile(server, "users.yaml");
}

async function applyFile(server: TestApiServer, name: string, namespace?: string): Promise<void> {
  const yaml = await readFile(new URL(name, folder), "utf8");
  await server.apply(yaml, namespace === undefined ? {} : { namespace });
}

/** What the manifests of a form grant, in whatever namespace. */
export async function grantedToOperator(form: RbacForm): Promise<ReadonlySet<string>> {
  return (await grantedInItsNamespace()).union(await grantedElsewhere(form));
}

/** What the operator may do in its own namespace, whatever the form. */
export async function grantedInItsNamespace(): Promise<ReadonlySet<string>> {
  return grantedVerbs(await readFile(new URL("operator.yaml", folder), "utf8"));
}

/** What a form adds, in the namespaces that it is for. */
export async function grantedElsewhere(form: RbacForm): Promise<ReadonlySet<string>> {
  return grantedVerbs(await readFile(new URL(fileOf(form), folder), "utf8"));
}

interface RoleRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** What the Roles and ClusterRoles among these documents grant. */
export function grantedVerbs(yaml: string): ReadonlySet<string> {
  const documents = parseAllDocuments(yaml).map((document) => document.toJS() as { kind?: string; rules?: RoleRule[] });
  const rules = documents.flatMap((document) => (/^(Cluster)?Role$/.test(document?.kind ?? "") ? document.rules : []));
  return new Set(rules.flatMap((rule) => (rule === undefined ? [] : verbsOf(rule))));
}

function verbsOf({ apiGroups = [], resources = [], nonResourceURLs = [], verbs }: RoleRule): readonly string[] {
  const all = [...apiGroups, ...resources, ...nonResourceURLs, ...verbs];
  if (all.includes("*")) throw new Error("a rule with * grants more than can be compared");
  const inGroups = apiGroups.flatMap((group) => resources.map((resource) => inGroup(resource, group)));
  const names = [...inGroups, ...nonResourceURLs];
  return names.flatMap((name) => verbs.map((verb) => `${verb} ${name}`));
}

function inGroup(resource: string, group: string): string {
  if (group === "") return resource;
  const [name, ...below] = resource.split("/");
  return [`${name}.${group}`, ...below].join("/");
}

/**
 * What a user asked for, granted or not; needs a server with `audit`. What `where` says no to is
 * left out; it is given the namespace of each request, undefined for all of them, and for paths
 * outside the API's resources.
 */
export async function usedVerbs(
  server: TestApiServer,
  user: TestUser,
  where: (namespace: string | undefined) => boolean = () => true,
): Promise<ReadonlySet<string>> {
  const requests = await server.requests(user);
  const asked = requests.filter(({ namespace }) => where(namespace));
  return new Set(asked.map(({ verb, resource }) => `${verb} ${resource}`));
}

/** What a user had no right to, oldest first; needs a server with `audit`. */
export async function refusedVerbs(server: TestApiServer, user: TestUser): Promise<readonly string[]> {
  const refused = (await server.requests(user)).filter(({ authorized }) => !authorized);
  return refused.map(({ verb, resource, namespace }) => `${verb} ${resource}${namespace ? ` in ${namespace}` : ""}`);
}
