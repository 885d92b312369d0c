// Reads the CRDs of the chart for the generators and tests.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Rule } from "../core/manifests/schema-node.ts";

/** A node of a CRD's schema, with the texts for people that core has no use for. */
export interface CrdNode {
  type?: string;
  title?: string;
  format?: string;
  nullable?: boolean;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, CrdNode>;
  additionalProperties?: CrdNode;
  items?: CrdNode;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-list-type"?: string;
  "x-kubernetes-validations"?: Rule[];
  [extension: `x-kubernetes-${string}`]: unknown;
}

export interface Crd {
  readonly kind: string;
  readonly singular: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** Names of those that are served, the stored one first. All have one schema. */
  readonly versions: readonly string[];
  readonly schema: CrdNode;
}

interface Definition {
  readonly spec: {
    readonly names: Omit<Crd, "schema" | "versions">;
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: CrdNode } }[];
  };
}

export const root: string = fileURLToPath(new URL("..", import.meta.url));
/** Here, because a chart holds only what is in its folder. */
export const crdFolder: string = join(root, "charts/jsonplane/files/crds");

const order = ["project", "apiresource", "projectuser", "apikey", "rootkey"];

/** In the order in which people meet them. */
export async function readCrds(): Promise<readonly Crd[]> {
  const files = await readdir(crdFolder);
  const texts = await Promise.all(files.map((file) => readFile(join(crdFolder, file), "utf8")));
  const crds = texts.map((text, at): Crd => {
    const { names, versions } = (parse(text) as Definition).spec;
    const schema = versions[0]?.schema.openAPIV3Schema;
    if (schema === undefined) throw new Error(`${files[at]} has no schema`);
    return { ...names, versions: versions.map(({ name }) => name), schema };
  });
  return crds.sort((a, b) => order.indexOf(a.singular) - order.indexOf(b.singular));
}
