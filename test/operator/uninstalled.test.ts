// What becomes of objects, data and the operator when one of them is taken away for good: the
// operator, or the CRDs; and the way out of a deletion that waits for an operator which is not
// there any more.

import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finalizer } from "../../operator/deletion/finalizers.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { installCrds } from "../support/kubernetes/api-server/api-server.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { type Declared, declared, newTenant, openBooks, type Tenant } from "../support/kubernetes/declared.ts";
import { bookCount } from "../support/kubernetes/former-namespace.ts";
import { runProgram } from "../support/process/run-program.ts";
import { eventually } from "../support/time/eventually.ts";
import { deleteDefinitions } from "./definitions.ts";

const plurals = ["projects", "apiresources", "rootkeys", "projectusers", "apikeys"];
const within = { withinMs: 90_000 };

let fleet: OwnFleet;
let redis: Redis;

beforeAll(async () => {
  const users = [{ name: "ann", token: "of-ann" }];
  fleet = await startFleet({ operators: 0, replicas: 0, api: { controllers: ["namespace"], users, own: true } });
  redis = new Redis(fleet.redis.url);
});
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

/** `jsonplane finalizers clear`, as the administrator or another. */
async function clear(words: readonly string[], kubeconfig?: string) {
  const all = ["finalizers", "clear", "--kubeconfig", kubeconfig ?? (await fleet.api.kubeconfig()), ...words];
  const { code, out, error } = await runProgram(all);
  return { code, lines: out.trimEnd().split("\n"), error };
}

const namespacePath = (namespace: string) => `/api/v1/namespaces/${namespace}`;
const drop = (namespace: string) => apiObject(fleet.api, namespacePath(namespace), { method: "DELETE" });

async function isGone(namespace: string): Promise<void> {
  await eventually(() => expect(apiObject(fleet.api, namespacePath(namespace))).rejects.toThrow("NotFound"), within);
}

async function isGoing(tenant: Tenant, kind: string, name: string): Promise<void> {
  await eventually(async () => {
    expect((await tenant.get(kind, name)).metadata.deletionTimestamp).toBeDefined();
  }, within);
}

describe("finalizers, cleared where no operator runs,", () => {
  /** As an operator has left them. */
  async function waiting(): Promise<Tenant> {
    const tenant = await newTenant(fleet);
    const held = (object: Declared, more: object = {}): Declared => ({
      ...object,
      metadata: { ...object.metadata, finalizers: [finalizer], ...more },
    });
    await tenant.create(held(declared("Project", "shop"), { annotations: { note: "stays" } }));
    await tenant.create(held(declared("RootKey", "flags")));
    return tenant;
  }

  it("let a namespace go that hung", async () => {
    const tenant = await waiting();
    const { namespace } = tenant;
    await drop(namespace);
    for (const [kind, name] of [
      ["Project", "shop"],
      ["RootKey", "flags"],
    ] as const)
      await isGoing(tenant, kind, name);

    const dry = await clear(["--namespace", namespace, "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, error: "" });
    expect(dry.lines).toContain(`Project ${namespace}/shop: its finalizer would be removed`);
    const done = await clear(["--namespace", namespace]);
    expect(done.code).toBe(0);
    expect(done.lines.slice(0, 3)).toEqual([
      `Project ${namespace}/shop: its finalizer is removed, and the object is gone`,
      `RootKey ${namespace}/flags: its finalizer is removed, and the object is gone`,
      "2 cleared",
    ]);
    await isGone(namespace);
  });

  it("stay where whoever asks may not change the objects, who is told what it takes", async () => {
    const tenant = await waiting();
    const { namespace } = tenant;
    const ofAnn = await fleet.api.kubeconfig({ user: "ann" });
    const refused = await clear(["--namespace", namespace], ofAnn);
    expect(refused.code).toBe(1);
    expect(refused.lines[0]).toMatch(/^Project: can't be listed: .*requires the verbs get, list, patch and update/);

    await letAnnSee(namespace, ["projects", "rootkeys", "apiresources"]);
    await tenant.remove("Project", "shop");
    await eventually(async () => {
      const { code, lines } = await clear(["--namespace", namespace], ofAnn);
      expect(code).toBe(1);
      expect(lines[0]).toMatch(/^Project .*\/shop: can't be changed: .*requires the verbs get, list, patch and update/);
      expect(lines[1]).toContain("left alone, nobody has deleted it");
    });
    for (const [kind, name] of [["Project", "shop"] as const, ["RootKey", "flags"] as const]) {
      expect((await tenant.get(kind, name)).metadata.finalizers).toEqual([finalizer]);
    }
    const all = await clear(["--all-namespaces", "--kind", "project"]);
    expect(all.lines).toContain(`Project ${namespace}/shop: its finalizer is removed, and the object is gone`);
  });

  async function letAnnSee(namespace: string, resources: readonly string[]): Promise<void> {
    const apiVersion = "rbac.authorization.k8s.io/v1";
    const metadata = { name: "see" };
    const rules = [{ apiGroups: ["jsonplane.io"], resources, verbs: ["get", "list"] }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "see" };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }];
    const objects = [
      { apiVersion, kind: "Role", metadata, rules },
      { apiVersion, kind: "RoleBinding", metadata, roleRef, subjects },
    ];
    for (const object of objects) await fleet.api.apply(JSON.stringify(object), { namespace });
  }

  it("are not looked for where the command line leaves open what is meant, or the server is not there", async () => {
    expect(await clear([])).toMatchObject({
      code: 2,
      error: "jsonplane: finalizers clear needs either --namespace NAME or --all-namespaces\n",
    });
    const nowhere = await clear(["--all-namespaces"], "/nowhere/config");
    expect(nowhere.code).toBe(1);
    expect(nowhere.error).toContain(
      "jsonplane: There is no way to an API server: the kubeconfig /nowhere/config can't be read",
    );
  });
});

async function stopOperators(): Promise<void> {
  for (const operator of fleet.operators.splice(0)) await operator.stop();
}

/** A Project of its own, with an object, served by an operator and a replica. */
async function served(...children: readonly Declared[]): Promise<Tenant> {
  if (fleet.operators.length === 0) await fleet.addOperator();
  if (fleet.replicas.length === 0) await fleet.addReplica();
  const tenant = await newTenant(fleet);
  await tenant.create(declared("Project", "shop"), ...children);
  for (const { metadata } of children) await tenant.reports("ApiResource", metadata.name, "Ready", within);
  await tenant.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
  return tenant;
}

const objectsOf = ({ namespace }: Tenant) => redis.zcard(`jp:{${namespace}/shop/books}:ids`);

async function withdrawn(tenant: Tenant): Promise<void> {
  await tenant.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"), within);
}

describe("an operator that was uninstalled", () => {
  it("holds nothing back for ever: cleared finalizers let objects and namespace go, and no data with them", async () => {
    const tenant = await served(openBooks({ deletionPolicy: "Delete" }));
    expect((await tenant.get("ApiResource", "books")).metadata.finalizers).toEqual([finalizer]);
    await stopOperators();
    await drop(tenant.namespace);
    await isGoing(tenant, "ApiResource", "books");
    const { lines } = await clear(["--namespace", tenant.namespace]);
    expect(lines.join()).toContain("its finalizer is removed, and the object is gone");
    await isGone(tenant.namespace);
    expect(await objectsOf(tenant)).toBe(1);
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200));

    // One that comes back withdraws what nobody declares, and does what the policy asked for.
    await fleet.addOperator();
    await withdrawn(tenant);
    await eventually(async () => expect(await objectsOf(tenant)).toBe(0), within);
  });
});

describe("an operator of the whole cluster that gave way to one of single namespaces", () => {
  it("leaves finalizers that the other may not take away: a condition says so, and what to do", async () => {
    const tenant = await served(openBooks({ deletionPolicy: "Delete" }));
    await stopOperators();
    await fleet.addOperator({ args: ["--watch-namespaces", tenant.namespace] });
    await tenant.remove("ApiResource", "books");
    await eventually(async () => {
      const { Ready } = await tenant.reports("ApiResource", "books", "Deleting", within);
      expect(Ready?.message).toContain("jsonplane finalizers clear --namespace");
    }, within);
    await eventually(async () => expect(await objectsOf(tenant)).toBe(0), within);
    await clear(["--namespace", tenant.namespace]);
    await expect(tenant.get("ApiResource", "books")).rejects.toThrow("NotFound");
    await stopOperators();
  });
});

async function removeCrds(): Promise<void> {
  await deleteDefinitions(fleet.api, ...plurals);
  // Objects whose data have to be deleted hold up their definition.
  const kinds = () => fleet.api.kubectl(["get", "crd", "-l", "app.kubernetes.io/part-of=jsonplane", "-o", "name"]);
  await eventually(async () => {
    await clear(["--all-namespaces"]);
    expect(await kinds()).toBe("");
  }, within);
}

describe("CRDs", () => {
  it("that are deleted under a running operator end nothing that is served; it goes on when they are back", async () => {
    const [kept, purged] = [await served(openBooks()), await served(openBooks({ deletionPolicy: "Delete" }))];
    const [operator] = fleet.operators as [OperatorProcess];
    await removeCrds();
    for (const tenant of [kept, purged]) await bookCount(tenant, 1);

    const before = operator.log().length;
    await sleep(5_000);
    // Five kinds that can't be watched, tried again and again, with pauses.
    const lines = operator.log().slice(before).split("\n");
    expect(lines.length).toBeLessThan(50);
    await eventually(() => expect(operator.log()).toContain("List or watch failed"), within);
    expect(await operator.leads()).toBe(true);
    for (const tenant of [kept, purged]) await bookCount(tenant, 1);

    await installCrds(fleet.api);
    for (const tenant of [kept, purged]) await withdrawn(tenant);
    await eventually(async () => expect(await objectsOf(purged)).toBe(0), within);
    for (const object of [declared("Project", "shop"), openBooks()]) {
      await eventually(() => kept.create(object), within);
    }
    await kept.reports("ApiResource", "books", "Ready", within);
    await bookCount(kept, 1);
    expect(await operator.leads()).toBe(true);
  });

  it("that are missing when an operator starts are waited for, its log says how to install them, and nothing is withdrawn until they are there", async () => {
    const tenant = await served(openBooks());
    await stopOperators();
    await removeCrds();
    const operator = await fleet.addOperator({ untilReady: false });
    await eventually(() => expect(operator.log()).toContain("List or watch failed"), within);
    await eventually(
      () => expect(operator.log()).toContain("kubectl apply --server-side -f charts/jsonplane/files/crds/"),
      within,
    );
    expect(await operator.ready()).toBe(503);
    await bookCount(tenant, 1);
    await installCrds(fleet.api);
    await eventually(async () => expect(await operator.ready()).toBe(200), within);
    await withdrawn(tenant);
    expect(await objectsOf(tenant)).toBe(1);
  });
});
