// What tests of a fleet declare and read back: manifests as objects, single edits, conditions by
// type, Events of one object. Everything goes straight to the API server: kubectl takes half a
// second a call. Throws with the server's answer when it refuses.

import type { Fleet } from "../fleet/fleet.ts";
import type { Reply, SentRequest } from "../http/http-client.ts";
import { eventually, type Patience } from "../time/eventually.ts";
import { apiObject } from "./api-server/api-server-call.ts";
import {
  type Condition,
  jsonplaneVersion,
  type KubeObject,
  type Manifest,
  type NamespaceObjects,
  objectsOf,
} from "./api-server/api-server-objects.ts";

export type DeclaredKind = "Project" | "ApiResource" | "ProjectUser" | "ApiKey" | "RootKey";

export type Declared = Manifest;

/** A custom resource; children of the Project `shop` unless the spec says another. */
export function declared(kind: DeclaredKind, name: string, spec: object = {}): Declared {
  const projectRef = kind === "Project" ? {} : { projectRef: { name: "shop" } };
  return { apiVersion: jsonplaneVersion, kind, metadata: { name }, spec: { ...projectRef, ...spec } };
}

/** The resource `books`, which anybody may read and add to. */
export function openBooks(spec: object = {}): Declared {
  return declared("ApiResource", "books", {
    access: { create: "Anyone", read: "Anyone", scope: { read: "All", write: "All" } },
    schema: { type: "object" },
    ...spec,
  });
}

export function secretOf(name: string, entries: Readonly<Record<string, string>>): Declared {
  return { apiVersion: "v1", kind: "Secret", metadata: { name }, stringData: entries };
}

/** One namespace of a fleet, which has a Project `shop` or is to get one. */
export interface Tenant extends NamespaceObjects {
  readonly fleet: Fleet;
  readonly namespace: string;
  edit(kind: DeclaredKind, name: string, spec: object): Promise<void>;
  /**
   * Waits until the condition Ready speaks of the newest generation and has this reason; returns
   * all conditions by type.
   */
  reports(kind: DeclaredKind, name: string, reason: string, patience?: Patience): Promise<Conditions>;
  /** Waits until the API server has no such object. */
  gone(kind: string, name: string, patience?: Patience): Promise<void>;
  /** Reasons of the Events about the object. */
  events(kind: string, name: string): Promise<readonly EventSeen[]>;
  /**
   * A request below /<namespace>/shop to every replica, until each answers as expected; for 30
   * seconds at most.
   */
  everywhere(path: string, sent: SentRequest, expected: (reply: Reply) => void, patience?: Patience): Promise<void>;
}

export type Conditions = Readonly<Partial<Record<string, Condition>>>;

export interface EventSeen {
  readonly reason: string;
  readonly type: string;
  readonly note: string;
}

export async function newTenant(fleet: Fleet): Promise<Tenant> {
  return tenantAt(fleet, await fleet.api.namespace());
}

export function tenantAt(fleet: Fleet, namespace: string): Tenant {
  const objects = objectsOf(fleet.api, namespace);
  const { get, patch } = objects;
  return {
    ...objects,
    fleet,
    namespace,
    edit: (kind, name, spec) => patch(kind, name, { spec }),
    reports: (kind, name, reason, patience = { withinMs: 60_000 }) =>
      eventually(async () => {
        const object = await get(kind, name);
        const conditions = conditionsOf(object);
        const ready = conditions["Ready"];
        const found = { reason: ready?.reason, of: ready?.observedGeneration };
        const wanted = { reason, of: object.metadata.generation };
        if (JSON.stringify(found) === JSON.stringify(wanted)) return conditions;
        throw new Error(`${kind} ${name} says ${JSON.stringify(ready)}, and not ${JSON.stringify(wanted)}`);
      }, patience),
    async gone(kind, name, patience = { withinMs: 90_000 }) {
      // By names: tests of one file that run side by side must not poll with `expect(…).rejects`,
      // see test/meta/repository.test.ts.
      await eventually(async () => {
        const { names } = objects;
        if ((await names(kind)).includes(name)) throw new Error(`${kind} ${name} is still there`);
      }, patience);
    },
    async events(kind, name) {
      const events = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      const { items } = (await apiObject(
        fleet.api,
        `${events}?fieldSelector=regarding.kind=${kind},regarding.name=${name}`,
      )) as unknown as { items: readonly EventSeen[] };
      return items.map(({ reason, type, note }) => ({ reason, type, note }));
    },
    async everywhere(path, sent, expected, patience = { withinMs: 30_000 }) {
      await Promise.all(
        fleet.replicas.map((replica) =>
          eventually(async () => expected(await replica.send(`/${namespace}/shop${path}`, sent)), patience),
        ),
      );
    },
  };
}

export function conditionsOf({ status }: KubeObject): Conditions {
  return Object.fromEntries((status?.conditions ?? []).map((condition) => [condition.type, condition]));
}
