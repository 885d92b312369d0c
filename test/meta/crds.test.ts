import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { servedVersions, version } from "../../core/manifests/object.ts";
import { type CrdNode, crdFolder, readCrds } from "../../tools/read-crds.ts";

interface CrdField {
  readonly path: string;
  readonly node: CrdNode;
}

const crds = await readCrds();

function fieldsBelow(node: CrdNode, path: string): readonly CrdField[] {
  const properties = Object.entries(node.properties ?? {}).map(([name, child]) => [`${path}.${name}`, child] as const);
  const items = node.items === undefined ? [] : [[`${path}[]`, node.items] as const];
  return [{ path, node }, ...[...properties, ...items].flatMap(([childPath, child]) => fieldsBelow(child, childPath))];
}

/** Below spec and status; what stands above them is Kubernetes' own. */
function ownFields(schema: CrdNode): readonly CrdField[] {
  const { spec = {}, status = {} } = schema.properties ?? {};
  return [...fieldsBelow(spec, "spec"), ...fieldsBelow(status, "status")];
}

async function readVersions(kind: string): Promise<readonly object[]> {
  return parse(await readFile(join(crdFolder, `${kind.toLowerCase()}.yaml`), "utf8")).spec.versions;
}

for (const { kind, schema, shortNames, versions } of crds) {
  describe(`the CRD of ${kind}`, () => {
    test("describes every field", () => {
      const silent = ownFields(schema).filter(
        ({ path, node }) => !path.endsWith("[]") && node.description === undefined,
      );
      expect(silent.map(({ path }) => path)).toEqual([]);
    });

    test("says every default in words, because `kubectl explain` shows none", () => {
      const silent = ownFields(schema).filter(({ path, node }) => {
        const { default: value, description = "" } = node;
        if (value === undefined || JSON.stringify(value) === "{}" || !path.startsWith("spec.")) return false;
        const text = typeof value === "string" ? value : JSON.stringify(value).replace(/^\[(.+)\]$/, "$1");
        return !description.endsWith(`Default: ${text === "[]" ? "an empty list" : text}.`);
      });
      expect(silent.map(({ path }) => path)).toEqual([]);
    });

    test("bounds every text, list and map, so that its rules have a bounded cost", () => {
      const unbounded = ownFields(schema).filter(({ node }) => {
        if (node.type === "string")
          return node.enum === undefined && node.format === undefined && node.maxLength === undefined;
        if (node.type === "array") return node.maxItems === undefined;
        return node.additionalProperties !== undefined && node.maxProperties === undefined;
      });
      expect(unbounded.map(({ path }) => path)).toEqual([]);
    });

    test("gives every rule a message of one line", () => {
      const rules = [{ path: "", node: schema }, ...ownFields(schema)].flatMap(
        ({ node }) => node["x-kubernetes-validations"] ?? [],
      );
      expect(rules.length).toBeGreaterThan(0);
      for (const { rule, message = "" } of rules) expect(message, rule).toMatch(/^[^\n]{10,}$/);
    });

    test("says how lists are merged", () => {
      const silent = ownFields(schema).filter(
        ({ node }) => node.type === "array" && node["x-kubernetes-list-type"] === undefined,
      );
      expect(silent.map(({ path }) => path)).toEqual([]);
    });

    test("starts its status at generation -1, so that a fresh object does not pass for a finished one", () => {
      expect(schema.properties?.["status"]?.default).toEqual({ observedGeneration: -1 });
    });

    test("has the versions that programs accept, which differ in nothing but their names", async () => {
      expect(versions).toEqual(servedVersions);
      const [stored, ...others] = await readVersions(kind);
      expect(stored).toMatchObject({ served: true, storage: true });
      for (const other of others) expect({ ...other, name: version, storage: true }).toEqual(stored);
    });

    test("has a short name of its own", () => {
      expect(shortNames).toHaveLength(1);
      expect(crds.flatMap((crd) => crd.shortNames).filter((name) => name === shortNames[0])).toHaveLength(1);
    });
  });
}
