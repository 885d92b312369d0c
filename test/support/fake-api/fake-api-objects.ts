// The objects of the fake API server: one revision counter over all kinds, a log of events,
// optimistic concurrency, deletion with finalizers, and compaction. Only what the operator's own
// types need; the real server proves the rest.

import { createHash } from "node:crypto";

export interface StoredObject {
  readonly metadata: StoredMeta;
  readonly [member: string]: unknown;
}

export interface StoredMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly labels?: { readonly [name: string]: string };
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
  readonly [member: string]: unknown;
}

export interface LoggedEvent {
  readonly revision: number;
  /** `<group>/<plural>`, as in `jsonplane.io/projects`; `/secrets` for the core API. */
  readonly collection: string;
  readonly object: StoredObject;
  readonly before: StoredObject | undefined;
  readonly gone: boolean;
}

/** What a request is refused with, as a Status body. */
export class Refused extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

type Given = { readonly [member: string]: unknown };

export class FakeApiObjects {
  #revision = 1_000;
  #compacted = 0;
  #events: LoggedEvent[] = [];
  #uids = 0;
  readonly #collections = new Map<string, Map<string, StoredObject>>();
  readonly #listeners = new Set<(event: LoggedEvent) => void>();

  get revision(): number {
    return this.#revision;
  }

  /** Events up to here are forgotten: watches and pages that need them are 410 Gone. */
  get compacted(): number {
    return this.#compacted;
  }

  compact(): void {
    this.#compacted = this.#revision;
    this.#events = [];
  }

  /** Takes a backup; calling what it returns restores that, and no later revision ever was. */
  backup(): () => void {
    const revision = this.#revision;
    const collections = [...this.#collections].map(([name, objects]) => [name, [...objects]] as const);
    return () => {
      this.#revision = revision;
      this.#events = this.#events.filter((event) => event.revision <= revision);
      this.#collections.clear();
      for (const [name, objects] of collections) this.#collections.set(name, new Map(objects));
    };
  }

  /** Lets the revision run ahead, as writes of other kinds do. */
  bump(): number {
    this.#revision += 1;
    return this.#revision;
  }

  all(collection: string): readonly StoredObject[] {
    return [...(this.#collections.get(collection)?.values() ?? [])].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  get(collection: string, namespace: string, name: string): StoredObject | undefined {
    return this.#collections.get(collection)?.get(`${namespace}/${name}`);
  }

  since(revision: number): readonly LoggedEvent[] {
    return this.#events.filter((event) => event.revision > revision);
  }

  onEvent(listener: (event: LoggedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  create(collection: string, given: Given): StoredObject {
    const meta = metaOf(given);
    const name = String(meta["name"] ?? "");
    const namespace = String(meta["namespace"] ?? "");
    if (this.get(collection, namespace, name) !== undefined) {
      throw new Refused(409, "AlreadyExists", `${collection} "${name}" already exists`);
    }
    this.#uids += 1;
    return this.#put(collection, {
      ...given,
      metadata: {
        ...meta,
        name,
        uid: createHash("sha256").update(`${collection}/${this.#uids}`).digest("hex").slice(0, 32),
        generation: 1,
        creationTimestamp: "2026-11-21T05:00:00Z",
        managedFields: [{ manager: "fake", operation: "Update" }],
      } as unknown as StoredMeta,
    });
  }

  /** PUT: `given.metadata.resourceVersion` must be the present one when it is there. */
  replace(collection: string, given: Given): StoredObject {
    const meta = metaOf(given);
    const present = this.#present(collection, String(meta["namespace"] ?? ""), String(meta["name"] ?? ""));
    this.#check(present, {
      ...(typeof meta["uid"] === "string" && { uid: meta["uid"] }),
      ...(typeof meta["resourceVersion"] === "string" && { resourceVersion: meta["resourceVersion"] }),
    });
    return this.#change(collection, present, { ...given, metadata: { ...present.metadata, ...writable(meta) } });
  }

  /** Server-side apply, as far as a single owner goes: members are merged, lists are replaced. */
  apply(collection: string, given: Given, subresource: string | undefined): StoredObject {
    const meta = metaOf(given);
    const [namespace, name] = [String(meta["namespace"] ?? ""), String(meta["name"] ?? "")];
    const present = this.get(collection, namespace, name);
    if (present === undefined) {
      if (subresource !== undefined) throw notFound(collection, name);
      if (meta["uid"] !== undefined) throw new Refused(409, "Conflict", "uid mismatch: no existing object was found");
      return this.create(collection, given);
    }
    this.#check(present, {
      ...(typeof meta["uid"] === "string" && { uid: meta["uid"] }),
      ...(typeof meta["resourceVersion"] === "string" && { resourceVersion: meta["resourceVersion"] }),
    });
    const { metadata: _, ...rest } = given;
    const part = subresource === undefined ? { ...rest, metadata: writable(meta) } : { status: given["status"] };
    return this.#change(collection, present, merged(present, part) as Given);
  }

  remove(collection: string, namespace: string, name: string, preconditions: Preconditions = {}): StoredObject {
    const present = this.#present(collection, namespace, name);
    this.#check(present, preconditions);
    if ((present.metadata.finalizers ?? []).length > 0) {
      const dying = { ...present.metadata, deletionTimestamp: "2026-11-21T05:00:01Z" };
      return this.#change(collection, present, { ...present, metadata: dying });
    }
    return this.#take(collection, present);
  }

  #present(collection: string, namespace: string, name: string): StoredObject {
    const present = this.get(collection, namespace, name);
    if (present === undefined) throw notFound(collection, name);
    return present;
  }

  #check(present: StoredObject, { uid, resourceVersion }: Preconditions): void {
    const { metadata } = present;
    if (uid !== undefined && uid !== metadata.uid)
      throw new Refused(409, "Conflict", "the UID in the precondition differs");
    if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
      throw new Refused(
        409,
        "Conflict",
        "the object has been modified; please apply your changes to the latest version",
      );
    }
  }

  #change(collection: string, present: StoredObject, next: Given): StoredObject {
    const same = (value: unknown): string => JSON.stringify(sorted(value));
    const nextMeta = next["metadata"] as StoredMeta;
    const settled = { ...nextMeta, resourceVersion: present.metadata.resourceVersion };
    if (same({ ...next, metadata: settled }) === same(present)) return present;
    if (nextMeta.deletionTimestamp !== undefined && (nextMeta.finalizers ?? []).length === 0) {
      return this.#take(collection, present);
    }
    const generation = present.metadata.generation + (same(next["spec"]) === same(present["spec"]) ? 0 : 1);
    return this.#put(collection, { ...next, metadata: { ...nextMeta, generation } });
  }

  #put(collection: string, next: Given): StoredObject {
    const revision = this.bump();
    const metadata = { ...(next["metadata"] as StoredMeta), resourceVersion: String(revision) };
    const object: StoredObject = { ...next, metadata };
    const objects = this.#collections.get(collection) ?? new Map<string, StoredObject>();
    this.#collections.set(collection, objects);
    const before = objects.get(keyOf(object));
    objects.set(keyOf(object), object);
    this.#notify({ revision, collection, object, before, gone: false });
    return object;
  }

  #take(collection: string, present: StoredObject): StoredObject {
    const revision = this.bump();
    this.#collections.get(collection)?.delete(keyOf(present));
    const object = { ...present, metadata: { ...present.metadata, resourceVersion: String(revision) } };
    this.#notify({ revision, collection, object, before: present, gone: true });
    return object;
  }

  #notify(event: LoggedEvent): void {
    this.#events.push(event);
    for (const listener of this.#listeners) listener(event);
  }
}

export function keyOf({ metadata }: StoredObject): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function metaOf(given: Given): { readonly [member: string]: unknown } {
  return (given["metadata"] ?? {}) as { readonly [member: string]: unknown };
}

/** What a client may set of `metadata` after creation. */
function writable(meta: { readonly [member: string]: unknown }): { readonly [member: string]: unknown } {
  const { labels, annotations, finalizers, ownerReferences } = meta;
  return Object.fromEntries(
    Object.entries({ labels, annotations, finalizers, ownerReferences }).filter(([, value]) => value !== undefined),
  );
}

function merged(present: unknown, part: unknown): unknown {
  if (!isMap(present) || !isMap(part)) return part;
  const next: { [member: string]: unknown } = { ...present };
  for (const [member, value] of Object.entries(part)) {
    if (value !== undefined) next[member] = merged(present[member], value);
  }
  return next;
}

function isMap(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((member) => [member, sorted(value[member])]),
  );
}

function notFound(collection: string, name: string): Refused {
  return new Refused(404, "NotFound", `${collection} "${name}" not found`);
}
