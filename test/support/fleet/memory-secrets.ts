// Secrets of one namespace in memory, written as the API server would let them be written, for
// tests of the resolve stage.

import type { Secret } from "../../../core/manifests/object.ts";
import { kindLabel, nameLabel } from "../../../operator/model/secret-names.ts";
import type { SecretWrite } from "../../../operator/resolve/resolution.ts";

export interface MemorySecrets {
  find(name: string): Secret | undefined;
  text(name: string, entry: string): string | undefined;
  apply(writes: readonly SecretWrite[]): void;
  /** A Secret that jsonplane didn't make. */
  put(name: string, entries: Readonly<Record<string, string>>): void;
  /** Changes one entry and leaves the labels, as `kubectl edit` does. */
  edit(name: string, entry: string, text: string): void;
  /** Changes an annotation, or takes it away. */
  annotate(name: string, annotation: string, text: string | undefined): void;
  /** Moves a Secret to another name and object of the same kind. */
  relabel(name: string, newName: string, owner: string): void;
  freeze(name: string): void;
  remove(name: string): void;
  names(): readonly string[];
  /** Everything as it stands, to come back to. */
  save(): ReadonlyMap<string, Secret>;
  restore(saved: ReadonlyMap<string, Secret>): void;
}

export function createMemorySecrets(): MemorySecrets {
  const secrets = new Map<string, Secret>();
  let version = 0;
  const store = (secret: Secret): void => {
    version += 1;
    const metadata = { ...secret.metadata, resourceVersion: String(version) };
    secrets.set(secret.metadata.name, { ...secret, metadata });
  };
  const present = (name: string): Secret => {
    const secret = secrets.get(name);
    if (secret === undefined) throw new Error(`There is no Secret ${name}`);
    return secret;
  };
  const dataOf = (entries: Readonly<Record<string, string>>): Secret["data"] =>
    new Map(Object.entries(entries).map(([entry, text]) => [entry, Buffer.from(text)]));
  return {
    find: (name) => secrets.get(name),
    text: (name, entry) => {
      const bytes = secrets.get(name)?.data.get(entry);
      return bytes === undefined ? undefined : Buffer.from(bytes).toString();
    },
    apply(writes) {
      for (const { mode, resourceVersion, name, type, labels, annotations, entries } of writes) {
        const before = secrets.get(name);
        if ((mode === "create") !== (before === undefined)) throw new Error(`${mode} of ${name} at the wrong time`);
        if (before?.metadata.resourceVersion !== resourceVersion) throw new Error(`${name} has changed since`);
        if (before?.immutable) throw new Error(`${name} is immutable`);
        const metadata = { name, namespace: "default", labels, annotations };
        store({ kind: "Secret", metadata, type, data: dataOf(entries) });
      }
    },
    put: (name, entries) => {
      const metadata = { name, namespace: "default", labels: {} };
      store({ kind: "Secret", metadata, type: "Opaque", data: dataOf(entries) });
    },
    edit(name, entry, text) {
      const secret = present(name);
      store({ ...secret, data: new Map(secret.data).set(entry, Buffer.from(text)) });
    },
    annotate(name, annotation, text) {
      const secret = present(name);
      const { [annotation]: _, ...rest } = secret.metadata.annotations ?? {};
      const annotations = text === undefined ? rest : { ...rest, [annotation]: text };
      store({ ...secret, metadata: { ...secret.metadata, annotations } });
    },
    relabel(name, newName, owner) {
      const secret = present(name);
      secrets.delete(name);
      const labels = { [kindLabel]: secret.metadata.labels?.[kindLabel] ?? "", [nameLabel]: owner };
      store({ ...secret, metadata: { ...secret.metadata, name: newName, labels } });
    },
    freeze: (name) => store({ ...present(name), immutable: true }),
    remove: (name) => void secrets.delete(name),
    names: () => [...secrets.keys()].sort(),
    save: () => new Map(secrets),
    restore(saved) {
      secrets.clear();
      for (const [name, secret] of saved) secrets.set(name, secret);
    },
  };
}
