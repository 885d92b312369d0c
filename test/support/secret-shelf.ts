// Secrets of one namespace in memory, written as the API server would let them be written, for tests of the resolve stage.

import type { Secret } from "../../core/manifests/object.ts";
import type { SecretWrite } from "../../operator/resolve/secret-write.ts";

export interface SecretShelf {
  find(name: string): Secret | undefined;
  text(name: string, entry: string): string | undefined;
  apply(writes: readonly SecretWrite[]): void;
  /** A Secret that jsonplane didn't make. */
  put(name: string, entries: Readonly<Record<string, string>>): void;
  /** Changes one entry and leaves the labels, as `kubectl edit` does. */
  edit(name: string, entry: string, text: string): void;
  remove(name: string): void;
  names(): readonly string[];
}

export function createSecretShelf(): SecretShelf {
  const secrets = new Map<string, Secret>();
  const store = (
    name: string,
    labels: Readonly<Record<string, string>>,
    entries: readonly (readonly [string, string])[],
  ) => {
    const data = new Map(entries.map(([entry, text]) => [entry, Buffer.from(text)]));
    secrets.set(name, { kind: "Secret", metadata: { name, namespace: "default", labels }, type: "Opaque", data });
  };
  return {
    find: (name) => secrets.get(name),
    text: (name, entry) => {
      const bytes = secrets.get(name)?.data.get(entry);
      return bytes === undefined ? undefined : Buffer.from(bytes).toString();
    },
    apply(writes) {
      for (const { mode, name, labels, entries } of writes) {
        if ((mode === "create") === secrets.has(name)) throw new Error(`${mode} of ${name} at the wrong time`);
        store(name, labels, Object.entries(entries));
      }
    },
    put: (name, entries) => store(name, {}, Object.entries(entries)),
    edit(name, entry, text) {
      const secret = secrets.get(name);
      if (secret === undefined) throw new Error(`There is no Secret ${name}`);
      secrets.set(name, { ...secret, data: new Map(secret.data).set(entry, Buffer.from(text)) });
    },
    remove: (name) => void secrets.delete(name),
    names: () => [...secrets.keys()].sort(),
  };
}
