// Tools that change something. A change names the tag of what was read, so that a model can't
// overwrite what it hasn't seen, nor what somebody else has changed since.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Client } from "../../client/index.ts";
import { id, path, resource, rootKey, value } from "./inputs.ts";
import { addTool } from "./tool.ts";

const written = z.object({ id: z.string(), etag: z.string() });
/** One of something that was read: `*` would stand for whatever is stored. */
const etag = z.string().regex(/^(W\/)?"[!#-~]*"$/, "must be one etag as it was read, with its quotes");
const ofObject = etag.describe("etag of get_object: refused if the object was changed since");
const overwrites = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false } as const;

export function addWritingTools(server: McpServer, client: Client): void {
  addTool(server, {
    name: "create_object",
    title: "Create an object",
    description: "Creates an object of a resource. describe_resource has the schema of its fields.",
    input: z.strictObject({
      resource,
      fields: z.record(z.string(), z.unknown()).describe("The object, without id and _metadata"),
    }),
    output: written,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    run: async ({ resource, fields }, signal) => {
      const made = await client.resource(resource).create(fields, { signal });
      return { id: made.id, etag: client.etagOf(made) ?? "" };
    },
  });

  addTool(server, {
    name: "update_object",
    title: "Change an object",
    description:
      "Changes fields of an object, as a merge patch (RFC 7396): objects are merged at any depth, null removes a field, arrays are replaced whole. Fields that it doesn't name stay. Read the object first.",
    input: z.strictObject({
      resource,
      id,
      changes: z.record(z.string(), z.unknown()).describe("Only what changes"),
      etag: ofObject,
    }),
    output: written,
    annotations: overwrites,
    run: async ({ resource, id, changes, etag }, signal) => {
      const changed = await client.resource(resource).update(id, changes, { ifMatch: etag, signal });
      return { id, etag: client.etagOf(changed) ?? "" };
    },
  });

  addTool(server, {
    name: "delete_object",
    title: "Delete an object",
    description: "Deletes an object for good. Read it first.",
    input: z.strictObject({ resource, id, etag: ofObject }),
    output: z.object({ deleted: z.string() }),
    annotations: overwrites,
    run: async ({ resource, id, etag }, signal) => {
      await client.resource(resource).delete(id, { ifMatch: etag, signal });
      return { deleted: id };
    },
  });

  addTool(server, {
    name: "set_value",
    title: "Set a value",
    description:
      "Replaces the value at a path of a root key, or adds it to an object that doesn't have the key yet. Everything below the path is replaced.",
    input: z.strictObject({
      root_key: rootKey,
      path: path.min(1),
      value: value.describe("The new value"),
      etag: etag
        .optional()
        .describe(
          "etag of read_value at this path: refused if the value was changed since. Leave it out to add a new key",
        ),
    }),
    output: z.object({ set: z.boolean() }),
    annotations: overwrites,
    run: async ({ root_key, path, value, etag }, signal) => {
      const condition = etag === undefined ? ({ ifNoneMatch: "*" } as const) : { ifMatch: etag };
      await client.rootKey(root_key).set(path, value, { ...condition, signal });
      return { set: true };
    },
  });
}
