// What becomes of objects, data and the operator when one of them is taken away for good: the operator, or the CRDs.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finalizer } from "../../operator/finalizer.ts";
import { type Declared, declared, newPlace, type Place } from "../support/declared.ts";
import { eventually } from "../support/eventually.ts";
import { type OwnFleet, startFleet } from "../support/fleet.ts";
import { send } from "../support/http-client.ts";
import type { OperatorProcess } from "../support/operator-process.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
const crds = fileURLToPath(new URL("../../crds/", import.meta.url));
const within = { withinMs: 60_000 };
const books = (spec: object = {}): Declared =>
  declared("ApiResource", "books", {
    access: { create: "Anyone", read: "Anyone", scope: { read: "All", write: "All" } },
    schema: { type: "object" },
    ...spec,
  });

let fleet: OwnFleet;
let redis: Redis;

beforeAll(async () => {
  fleet = await startFleet({ api: { controllers: ["namespace"] } });
  redis = new Redis(fleet.redis.url);
});
afterAll(async () => {
  redis?.disconnect();
  await fleet?.stop();
});

async function served(...children: readonly Declared[]): Promise<Place> {
  const place = await newPlace(fleet);
  await place.create(declared("Project", "shop"), ...children);
  for (const { metadata } of children) await place.said("ApiResource", metadata.name, "Ready", within);
  await place.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201));
  return place;
}

const objectsOf = ({ namespace }: Place) => redis.zcard(`jp:{${namespace}/shop/books}:ids`);

async function withdrawn(place: Place): Promise<void> {
  await place.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"), within);
}

async function clear(namespace: string): Promise<string> {
  const kubeconfig = await fleet.api.kubeconfig();
  const words = [main, "finalizers", "clear", "--kubeconfig", kubeconfig, "--namespace", namespace];
  return (await promisify(execFile)(process.execPath, words)).stdout;
}

const readiness = async ({ adminUrl }: OperatorProcess) => (await send(adminUrl, "/readyz")).status;

describe("an operator that was uninstalled", () => {
  it("holds nothing back for ever: cleared finalizers let objects and namespace go, and no data with them", async () => {
    const place = await served(books({ deletionPolicy: "Delete" }));
    expect((await place.get("ApiResource", "books")).metadata.finalizers).toEqual([finalizer]);
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await fleet.api.kubectl(["delete", "namespace", place.namespace, "--wait=false"]);
    await eventually(async () => {
      expect((await place.get("ApiResource", "books")).metadata.deletionTimestamp).toBeDefined();
    }, within);
    expect(await clear(place.namespace)).toContain("its finalizer is removed, and the object is gone");
    await fleet.api.kubectl(["wait", "--for=delete", `namespace/${place.namespace}`, "--timeout=60s"]);
    expect(await objectsOf(place)).toBe(1);
    await place.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200));

    // One that comes back withdraws what nobody declares, and does what the policy asked for.
    await fleet.addOperator();
    await withdrawn(place);
    await eventually(async () => expect(await objectsOf(place)).toBe(0), within);
  });
});

describe("an operator of the whole cluster that gave way to one of single namespaces", () => {
  it("leaves finalizers that the other may not take away: a condition says so, and what to do", async () => {
    const place = await served(books({ deletionPolicy: "Delete" }));
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await fleet.addOperator({ args: ["--watch-namespaces", place.namespace] });
    await place.remove("ApiResource", "books");
    await eventually(async () => {
      const { Ready } = await place.said("ApiResource", "books", "Deleting", within);
      expect(Ready?.message).toContain("jsonplane finalizers clear --namespace");
    }, within);
    await eventually(async () => expect(await objectsOf(place)).toBe(0), within);
    await clear(place.namespace);
    await expect(place.get("ApiResource", "books")).rejects.toThrow("NotFound");
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await fleet.addOperator();
  });
});

describe("CRDs", () => {
  it("that are deleted under a running operator end what was declared, and nothing else; it goes on when they are back", async () => {
    const [kept, purged] = [await served(books()), await served(books({ deletionPolicy: "Delete" }))];
    const [operator] = fleet.operators as [OperatorProcess];
    await fleet.api.kubectl(["delete", "-f", crds, "--timeout=60s"]);
    await Promise.all([withdrawn(kept), withdrawn(purged)]);
    expect([await objectsOf(kept), await objectsOf(purged)]).toEqual([1, 0]);

    const before = operator.log().length;
    await new Promise((resume) => setTimeout(resume, 10_000));
    // Five kinds that can't be watched, tried anew again and again, with pauses.
    const lines = operator.log().slice(before).split("\n");
    expect(lines.length).toBeLessThan(100);
    expect(lines.join("\n")).toContain("Watch interrupted");
    expect(await operator.leads()).toBe(true);

    await fleet.api.kubectl(["apply", "--server-side", "-f", crds]);
    await fleet.api.kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
    await eventually(() => kept.create(declared("Project", "shop"), books()), within);
    await kept.said("ApiResource", "books", "Ready", within);
    await kept.everywhere("/api/books", {}, (reply) => expect(reply.json<{ count: number }>().count).toBe(1), within);
    expect(await operator.leads()).toBe(true);
  });

  it("that are missing when an operator starts are waited for, and nothing is withdrawn meanwhile", async () => {
    const place = await served(books());
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await fleet.api.kubectl(["delete", "-f", crds, "--timeout=60s"]);
    const operator = await fleet.addOperator({ untilReady: false });
    await eventually(() => expect(operator.log()).toContain("Watch interrupted"), within);
    expect(await readiness(operator)).toBe(503);
    await place.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200));
    await fleet.api.kubectl(["apply", "--server-side", "-f", crds]);
    await eventually(async () => expect(await readiness(operator)).toBe(200), within);
    await withdrawn(place);
    expect(await objectsOf(place)).toBe(1);
  });
});
