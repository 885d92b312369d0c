import { beforeAll, describe, expect, test } from "vitest";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { apiCall } from "../support/kubernetes/api-server/api-server-call.ts";
import type { TestUser } from "../support/kubernetes/api-server/api-server-users.ts";
import {
  grantedToOperator,
  grantedVerbs,
  grantOperator,
  grantUsers,
  refusedVerbs,
  usedVerbs,
} from "../support/kubernetes/rbac.ts";
import { eventually } from "../support/time/eventually.ts";

const kinds = ["projects", "apiresources", "projectusers", "apikeys", "rootkeys"] as const;

let server: TestApiServer;

beforeAll(async () => {
  server = await sharedApiServer();
});

/** Whether the API server's own review says that `user` may; `resource` as kubectl writes it. */
async function may(user: TestUser, verb: string, resource: string, namespace: string): Promise<boolean> {
  const [path = "", subresource] = resource.split("/");
  const [name, ...group] = path.split(".");
  const resourceAttributes = { verb, resource: name, group: group.join("."), subresource, namespace };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } };
  const review = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const answer = await apiCall(server, review, { method: "POST", body, as: user });
  return (answer.body["status"] as { allowed: boolean }).allowed;
}

describe("the rights of a cluster-wide operator", () => {
  test("reach every namespace, and no further than written", async () => {
    const namespace = await server.namespace();
    const operator = await grantOperator(server, "cluster");
    await eventually(async () => expect(await may(operator, "list", "projects.jsonplane.io", "")).toBe(true));
    for (const kind of kinds) {
      expect(await may(operator, "patch", `${kind}.jsonplane.io/status`, namespace)).toBe(true);
      expect(await may(operator, "delete", `${kind}.jsonplane.io`, namespace)).toBe(false);
      expect(await may(operator, "create", `${kind}.jsonplane.io`, namespace)).toBe(false);
    }
    expect(await may(operator, "patch", "projects.jsonplane.io", namespace)).toBe(true);
    expect(await may(operator, "patch", "apikeys.jsonplane.io", namespace)).toBe(false);
    expect(await may(operator, "update", "leases.coordination.k8s.io", operator.namespace)).toBe(true);
    expect(await may(operator, "update", "leases.coordination.k8s.io", namespace)).toBe(false);
    expect(await may(operator, "get", "configmaps", namespace)).toBe(false);
  });

  test("are told from the requests that were made, refused ones included", async () => {
    const namespace = await server.namespace();
    const operator = await grantOperator(server, "cluster");
    const projects = `/apis/jsonplane.io/v1alpha1/namespaces/${namespace}/projects`;
    await eventually(async () => expect((await apiCall(server, projects, { as: operator })).status).toBe(200));
    await server.kubectl(["get", "--raw", `${projects}?watch=true&timeoutSeconds=1`], { as: operator });
    await apiCall(server, `/api/v1/namespaces/${namespace}/configmaps`, { as: operator });
    const used = await usedVerbs(server, operator);
    expect(used).toContain("list projects.jsonplane.io");
    expect(used).toContain("watch projects.jsonplane.io");
    expect(used).toContain("list configmaps");
    expect(await refusedVerbs(server, operator)).toContain(`list configmaps in ${namespace}`);
    expect([...used].filter((verb) => verb.startsWith("get /api"))).toEqual([]);
  });
});

/** No other file of this server grants the operator anything. */
async function withdrawClusterRights(): Promise<void> {
  const binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/jsonplane-operator";
  expect([200, 404]).toContain((await apiCall(server, binding, { method: "DELETE" })).status);
}

describe("the rights of an operator for some namespaces", () => {
  test("end at the namespaces that it watches", async () => {
    const [watched, other] = [await server.namespace("watched"), await server.namespace("other")];
    await withdrawClusterRights();
    const operator = await grantOperator(server, [watched]);
    await eventually(async () => expect(await may(operator, "list", "secrets", watched)).toBe(true));
    await eventually(async () => expect(await may(operator, "list", "secrets", other)).toBe(false));
    for (const kind of kinds) {
      expect(await may(operator, "patch", `${kind}.jsonplane.io/status`, watched)).toBe(true);
      // No finalizer in this form.
      expect(await may(operator, "patch", `${kind}.jsonplane.io`, watched)).toBe(false);
    }
    expect(await may(operator, "list", "projects.jsonplane.io", "")).toBe(false);
    expect((await apiCall(server, `/api/v1/namespaces/${watched}`, { as: operator })).status).toBe(200);
    expect((await apiCall(server, `/api/v1/namespaces/${other}`, { as: operator })).status).toBe(403);
    expect((await apiCall(server, "/api/v1/namespaces", { as: operator })).status).toBe(403);
  });

  test("of its own namespace's Secrets, it reads the key ring alone", async () => {
    const watched = await server.namespace("watched");
    await withdrawClusterRights();
    const operator = await grantOperator(server, [watched]);
    const secrets = `/api/v1/namespaces/${operator.namespace}/secrets`;
    await eventually(async () =>
      expect((await apiCall(server, `${secrets}/other`, { as: operator })).status).toBe(403),
    );
    expect((await apiCall(server, `${secrets}/jsonplane-keyring`, { as: operator })).status).toBe(404);
  });

  test("let it read its own namespace, which it need not watch", async () => {
    const watched = await server.namespace("watched");
    await withdrawClusterRights();
    const operator = await grantOperator(server, [watched]);
    const own = `/api/v1/namespaces/${operator.namespace}`;
    await eventually(async () => expect((await apiCall(server, own, { as: operator })).status).toBe(200));
    expect((await apiCall(server, own, { method: "DELETE", as: operator })).status).toBe(403);
  });

  test("are fewer than those of a cluster-wide one", async () => {
    const [few, many] = [await grantedToOperator(["shop"]), await grantedToOperator("cluster")];
    expect([...few].filter((verb) => !many.has(verb))).toEqual([]);
    expect([...many].filter((verb) => !few.has(verb)).sort()).toEqual([
      "get /.well-known/openid-configuration",
      "get /openid/v1/jwks",
      "get customresourcedefinitions.apiextensions.k8s.io",
      "list namespaces",
      "patch apiresources.jsonplane.io",
      "patch projects.jsonplane.io",
      "patch rootkeys.jsonplane.io",
      "update apiresources.jsonplane.io",
      "update projects.jsonplane.io",
      "update rootkeys.jsonplane.io",
      "watch namespaces",
    ]);
  });
});

describe("the cluster's own roles", () => {
  async function bound(role: string): Promise<{ readonly user: TestUser; readonly namespace: string }> {
    const namespace = await server.namespace(role);
    await grantUsers(server);
    const user = { namespace, serviceAccount: role };
    await server.token(user);
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: role },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ kind: "ServiceAccount", namespace, name: role }],
    };
    await server.apply(JSON.stringify(binding), { namespace });
    return { user, namespace };
  }

  test("view reads the five kinds and no Secret", async () => {
    const { user, namespace } = await bound("view");
    for (const kind of kinds) {
      await eventually(async () => expect(await may(user, "watch", `${kind}.jsonplane.io`, namespace)).toBe(true));
      expect(await may(user, "create", `${kind}.jsonplane.io`, namespace)).toBe(false);
    }
    expect(await may(user, "get", "secrets", namespace)).toBe(false);
  });

  test.for(["edit", "admin"])("%s changes the five kinds and not their status", async (role) => {
    const { user, namespace } = await bound(role);
    for (const kind of kinds) {
      await eventually(async () => expect(await may(user, "patch", `${kind}.jsonplane.io`, namespace)).toBe(true));
      expect(await may(user, "get", `${kind}.jsonplane.io`, namespace)).toBe(true);
      expect(await may(user, "patch", `${kind}.jsonplane.io/status`, namespace)).toBe(false);
    }
  });
});

test("a rule with a wildcard is not compared", () => {
  const yaml = 'kind: Role\nrules: [{ apiGroups: [""], resources: [secrets], verbs: ["*"] }]';
  expect(() => grantedVerbs(yaml)).toThrow("grants more than can be compared");
});
