// Tools that read objects and values. A page has as many objects as an answer can hold; `next` goes
// on behind the last one.

import type { McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Client, Page } from "../../client/index.ts";
import { fields, filter, id, path, resource, rootKey } from "./inputs.ts";
import { addTool, maxCharacters, reads } from "./tool.ts";

const object = z.looseObject({ id: z.string() });
type StoredObject = z.output<typeof object>;

const maxLimit = 100;
const someFields = "Choose some of the fields with `fields`";
/** For what stands beside the objects. */
const reserve = 2_000;

export function addReadingTools(server: McpServer, client: Client): void {
  addTool(server, {
    name: "list_objects",
    title: "List objects",
    description: `Lists objects of a resource that the caller may see, oldest first unless sorted. count is the number of all that match. Where next is present, there are more: call it again with the same arguments and that cursor. A page ends early where an answer would have more than ${maxCharacters} characters; fields makes objects shorter.`,
    input: z.strictObject({
      resource,
      filter,
      sort: z
        .array(z.string())
        .max(4)
        .optional()
        .describe(
          'Fields to sort by, such as ["-price"]; a minus sorts descending. Best one that describe_resource lists',
        ),
      fields,
      limit: z.number().int().min(1).max(maxLimit).default(10).describe("Objects of a page"),
      cursor: z.string().optional().describe("next of the page before"),
    }),
    output: z.object({ objects: z.array(object), count: z.number().optional(), next: z.string().optional() }),
    annotations: reads,
    instead: () => someFields,
    run: async ({ resource, cursor, limit, ...query }, signal) => {
      const asked = { ...query, ...(cursor === undefined ? {} : { cursor, count: false }), signal };
      const page = (limit: number) => client.resource(resource).page({ ...asked, limit });
      const { items, count, next } = await fittingPage(page, limit);
      return { objects: [...items], ...(count !== undefined && { count }), ...(next !== undefined && { next }) };
    },
  });

  addTool(server, {
    name: "count_objects",
    title: "Count objects",
    description:
      "Counts the objects of a resource that the caller may see: all that match, or with by how many have each value of a field. Use it in place of listing objects to count them.",
    input: z.strictObject({
      resource,
      by: z.string().optional().describe("Field, best an indexed one, with at most 500 values"),
      filter,
    }),
    output: z.object({
      count: z.number(),
      counts: z.array(z.object({ value: z.unknown().optional(), count: z.number() })).optional(),
    }),
    annotations: reads,
    run: async ({ resource, by, filter }, signal) => {
      const objects = client.resource(resource);
      // With `count` a filter called _count is refused; without it, nothing would be counted.
      if (by === undefined)
        return { count: (await objects.page({ filter, limit: 1, count: true, signal })).count ?? 0 };
      const counts = await objects.countBy(by, { filter, signal });
      return { count: counts.reduce((sum, { count }) => sum + count, 0), counts: [...counts] };
    },
  });

  addTool(server, {
    name: "get_object",
    title: "Read an object",
    description: "Reads one object. etag is what update_object and delete_object need.",
    input: z.strictObject({ resource, id, fields }),
    output: z.object({ object, etag: z.string() }),
    annotations: reads,
    instead: () => someFields,
    run: async ({ resource, id, fields }, signal) => {
      const object = await client.resource(resource).get(id, { fields, signal });
      return { object, etag: client.etagOf(object) ?? "" };
    },
  });

  addTool(server, {
    name: "read_value",
    title: "Read a value",
    description: "Reads the JSON value of a root key, or a part of it by its path. etag is what set_value needs.",
    input: z.strictObject({ root_key: rootKey, path: path.default([]) }),
    output: z.object({ value: z.unknown(), etag: z.string() }),
    annotations: reads,
    instead: ({ value }) => partsOf(value),
    run: async ({ root_key, path }, signal) => await client.rootKey(root_key).getTagged(path, { signal }),
  });
}

/** A page of up to so many objects; where these are too long, of as many as fit. */
async function fittingPage(
  page: (limit: number) => Promise<Page<StoredObject>>,
  limit: number,
): Promise<Page<StoredObject>> {
  const found = await page(limit);
  let room = maxCharacters - reserve;
  const fitting = found.items.findIndex((item) => {
    room -= JSON.stringify(item).length + 1;
    return room < 0;
  });
  return fitting < 1 ? found : await fittingPage(page, fitting);
}

const maxNames = 100;

function partsOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return "It is one text, which can't be read in parts";
  if (Array.isArray(value)) return `Read parts of it by their paths: it has ${value.length} elements`;
  const names = Object.keys(value);
  const shown = names.slice(0, maxNames).map((name) => JSON.stringify(name.slice(0, maxNames)));
  return `Read parts of it by their paths: it has the keys ${shown.join(", ")}${names.length > maxNames ? ` and ${names.length - maxNames} more` : ""}`;
}
