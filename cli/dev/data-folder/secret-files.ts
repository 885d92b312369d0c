// Keeps the Secrets that an operator would write to the cluster as manifests, one file each,
// `<data>/secrets/<namespace>/<name>.yaml`, readable by the owner only. A file that can't be read
// counts as absent and is reported.

import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import type { Secret, UncheckedObject } from "../../../core/manifests/object.ts";
import { readSecret } from "../../../core/manifests/secret.ts";
import type { SecretWrite } from "../../../operator/resolve/resolution.ts";
import { writeAtomically } from "./files.ts";

export interface SecretReading {
  /** By `<namespace>/<name>`. */
  readonly secrets: ReadonlyMap<string, Secret>;
  /** Files that hold no Secret, or not the one that they are named after. */
  readonly unreadable: readonly string[];
}

export interface SecretFiles {
  readonly folder: string;
  /** Where the Secret is, or would be. */
  fileOf(namespace: string, name: string): string;
  read(): Promise<SecretReading>;
  write(secret: SecretWrite): Promise<void>;
  remove(namespace: string, name: string): Promise<void>;
}

/**
 * `requireInPlace` throws when the data folder is not the one that was opened. It runs before
 * reads, too: Secrets that seem lost would be created again.
 */
export function createSecretFiles(folder: string, requireInPlace = (): void => undefined): SecretFiles {
  const fileOf = (namespace: string, name: string): string => join(folder, namespace, `${name}.yaml`);
  return {
    folder,
    fileOf,
    async read() {
      requireInPlace();
      const secrets = new Map<string, Secret>();
      const unreadable: string[] = [];
      for (const file of await filesIn(folder)) {
        const secret = await readOne(file);
        if (secret === undefined || fileOf(secret.metadata.namespace, secret.metadata.name) !== file)
          unreadable.push(file);
        else secrets.set(`${secret.metadata.namespace}/${secret.metadata.name}`, secret);
      }
      return { secrets, unreadable };
    },
    async write(secret) {
      requireInPlace();
      await mkdir(join(folder, secret.namespace), { recursive: true, mode: 0o700 });
      await writeAtomically(fileOf(secret.namespace, secret.name), manifestOf(secret));
    },
    async remove(namespace, name) {
      requireInPlace();
      await rm(fileOf(namespace, name), { force: true });
    },
  };
}

async function filesIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const manifests = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".yaml"));
    return manifests.map((entry) => join(entry.parentPath, entry.name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

async function readOne(file: string): Promise<Secret | undefined> {
  const object = parsed(await readFile(file, "utf8"));
  if (typeof object !== "object" || object === null || Array.isArray(object)) return undefined;
  const result = readSecret(object as UncheckedObject);
  return result.ok ? result.secret : undefined;
}

function parsed(text: string): unknown {
  try {
    return parse(text, { logLevel: "silent" });
  } catch {
    // Somebody is in the middle of editing it; the message of the parser could quote the secret.
    return undefined;
  }
}

/** One entry per line, so that a shell can read it with sed. */
function manifestOf({ namespace, name, type, labels, annotations, entries }: SecretWrite): string {
  const manifest = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels, annotations },
    type,
    stringData: entries,
  };
  return `# Made by jsonplane dev; in a cluster the operator makes it.\n${stringify(manifest, { lineWidth: 0 })}`;
}
