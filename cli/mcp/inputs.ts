// Arguments that several tools take, as a model reads of them.

import * as z from "zod";

export const resource = z.string().describe("Name of a resource, as describe_project lists them");
export const id = z.string().describe("Id of the object");
export const rootKey = z.string().describe("Name of a root key, as describe_project lists them");
export const path = z
  .array(z.union([z.string(), z.number().int()]))
  .describe('Keys of objects and indices of arrays that lead to the value, such as ["hours", 0, "from"]');

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

export const filter = z
  .record(z.string(), z.union([scalar, z.array(scalar)]))
  .optional()
  .describe(
    'Only objects that match all of these, by the names that describe_resource lists: {"status": "open", "price:lt": 5, "size:in": ["S", "M"]}; or at least one of several: {"_any": "status:open,price:lt=5"}',
  );

/** Of JSON; each kind is named, because models send text for what has no type. */
export const value = z.union([scalar, z.array(z.unknown()), z.record(z.string(), z.unknown())]);

export const fields = z
  .array(z.string())
  .min(1)
  .optional()
  .describe("Only these fields, and id; a dot leads into nested objects");
