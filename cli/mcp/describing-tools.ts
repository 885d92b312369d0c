// Tools that say what there is and what the caller may do with it, from the project's OpenAPI
// document and from what the server takes the caller for. The schema of a resource is asked for by
// its name, because all of them together may be more than a model can read.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Client, WhoAmI } from "../../client/index.ts";
import type { JsonObject, Permission } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import { isServedReadOnly, may } from "../../pages/console/permitted.ts";
import { type DescribedApi, describeApi } from "../types/describe-api.ts";
import { resource } from "./inputs.ts";
import { addTool, maxCharacters, reads } from "./tool.ts";

const named = z.object({ name: z.string(), description: z.string().optional(), may: z.array(z.string()) });
const schemas = z.record(z.string(), z.unknown());

export function addDescribingTools(
  server: McpServer,
  client: Client,
  { allowWrites }: { readonly allowWrites: boolean },
): void {
  const read = async (signal: AbortSignal): Promise<Described> => {
    const [caller, response] = await Promise.all([
      client.whoAmI({ signal }),
      client.request("/openapi.json", { signal }),
    ]);
    return describedOf((await response.json()) as JsonObject, caller, allowWrites);
  };

  addTool(server, {
    name: "describe_project",
    title: "Describe the project",
    description:
      "Says which resources and root keys the project has, and what the caller may do with each, by these tools. Objects of a resource have a schema: describe_resource shows it. Descriptions are left out where there are very many. A root key has one JSON value of any shape.",
    input: z.strictObject({}),
    output: z.object({
      project: z.string(),
      caller: z.looseObject({ kind: z.string(), name: z.string() }),
      resources: z.array(named),
      root_keys: z.array(named),
    }),
    annotations: reads,
    instead: () => "Ask the person for the names of resources and root keys",
    run: async (_, signal) => {
      const { project, caller, resources, rootKeys } = await read(signal);
      const { session_id: _session, ...shown } = caller;
      const all = { project, caller: shown, resources: [...resources.values()], root_keys: rootKeys };
      if (JSON.stringify(all).length <= maxCharacters) return all;
      return { ...all, resources: all.resources.map(({ name, may }) => ({ name, may })) };
    },
  });

  addTool(server, {
    name: "describe_resource",
    title: "Describe a resource",
    description:
      "Says what the objects of a resource look like, and how lists of them can be filtered and sorted. object names the schema of an object as it is read, create that of a new one; both are in $defs, as JSON Schema.",
    input: z.strictObject({ resource }),
    output: named.extend({
      object: z.string().optional(),
      create: z.string().optional(),
      filters: schemas,
      sort: z.array(z.string()),
      $defs: schemas,
    }),
    annotations: reads,
    instead: () => "Read some objects to see what they look like",
    run: async ({ resource }, signal) => {
      const { api, resources } = await read(signal);
      const found = resources.get(resource);
      const types = api.resources.find(({ name }) => name === resource);
      if (found === undefined || types === undefined)
        throw new Error(
          `There is no resource ${JSON.stringify(resource)}: describe_project lists those that there are`,
        );
      const schemaOf = (name: string | undefined) => api.definitions.get(name ?? "")?.schema as JsonObject | undefined;
      const shown = {
        ...(types.object !== undefined && { object: types.object }),
        ...(types.create !== undefined && found.may.includes("create") && { create: types.create }),
      };
      const sort = (schemaOf(types.sort)?.["enum"] ?? []) as readonly string[];
      return {
        ...found,
        ...shown,
        filters: (schemaOf(types.filters)?.["properties"] ?? {}) as JsonObject,
        sort: sort.filter((key) => !key.startsWith("-")),
        $defs: withReferences(Object.values(shown), schemaOf),
      };
    },
  });
}

type Named = z.input<typeof named>;

interface Described {
  readonly project: string;
  readonly caller: WhoAmI;
  readonly api: DescribedApi;
  readonly resources: ReadonlyMap<string, Named>;
  readonly rootKeys: Named[];
}

/** What each thing that a caller may do is in the document: below its path, and which method. */
const ofResources = [
  ["list", "", "get"],
  ["get", "/{id}", "get"],
  ["create", "", "post"],
  ["update", "/{id}", "patch"],
  ["delete", "/{id}", "delete"],
] as const;
const ofRootKeys = [
  ["read", "", "get"],
  ["set", "/{path}", "put"],
] as const;

function describedOf(document: JsonObject, caller: WhoAmI, allowWrites: boolean): Described {
  const api = describeApi(document);
  const { info, paths, tags } = document as unknown as Document;
  const writes = allowWrites && !isServedReadOnly(document);
  const allows = (path: string, method: string): boolean => {
    const item = paths[path];
    const operation = isObject(item) ? item[method] : undefined;
    if (!isObject(operation) || (method !== "get" && !writes)) return false;
    return may(operation as Operation, rightsOf(caller), method === "get" ? "Read" : "Write");
  };
  const allowed = (base: string, things: typeof ofResources | typeof ofRootKeys): string[] =>
    things.flatMap(([thing, below, method]) => (allows(base + below, method) ? [thing] : []));
  const resources = api.resources.map(({ name }): [string, Named] => {
    const description = tags.find((tag) => tag.name === `api/${name}`)?.description;
    return [name, { name, ...(description && { description }), may: allowed(`/api/${name}`, ofResources) }];
  });
  const rootKeys = api.rootKeys.map((name) => ({ name, may: allowed(`/json/${name}`, ofRootKeys) }));
  return { project: info.title, caller, api, resources: new Map(resources), rootKeys };
}

interface Document {
  readonly info: { readonly title: string };
  readonly paths: JsonObject;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
}

interface Operation {
  readonly "x-jsonplane-permission"?: Permission;
}

function rightsOf({ role, access }: WhoAmI): Parameters<typeof may>[1] {
  return role === undefined || access === undefined ? undefined : { role, access };
}

/** The schemas of these names, and all that they refer to. */
function withReferences(
  names: readonly string[],
  schemaOf: (name: string) => JsonObject | undefined,
): Record<string, unknown> {
  const found = new Map<string, unknown>();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    const schema = schemaOf(name) ?? true;
    found.set(name, schema);
    waiting.push(...[...JSON.stringify(schema).matchAll(/"#\/\$defs\/([^"]+)"/g)].map(([, other = ""]) => other));
  }
  return Object.fromEntries(found);
}
