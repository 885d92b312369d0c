// What unique rules add to the description of a resource: a PUT of the collection, and a refusal of
// every write.

import type { JsonObject } from "../../../core/config/types.ts";
import type { LiveResource } from "../../config/directory.ts";
import { query, valueSchema } from "./list-parameters.ts";
import {
  collectionOperations,
  conditional,
  json,
  type OperationEntry,
  objectOperations,
  tagged,
} from "./operations.ts";

const upsertOperation: OperationEntry = {
  method: "put",
  name: "upsert",
  summary: "Create or change the object that has these values",
  description:
    "Send the fields of one unique rule, and no other parameters. The object that has these values is changed as by a PUT of it; if there is none, it is created with them, as by a POST.",
  operation: "update",
  needs: ["read", "create"],
  queries: "upsert",
  takes: conditional,
  body: { [json]: "changes" },
  answers: [
    { status: 200, description: "The whole object, as it is now stored.", shape: "stored", headers: tagged },
    { status: 201, description: "The stored object.", shape: "stored", headers: ["Location", ...tagged] },
  ],
  problems: ["preconditions", "upsert", "objectBody", "creation", "update", "storedData", "write"],
};

/** The operations of a resource's collection and of its objects. */
export function operationsOf({
  config,
}: LiveResource): Readonly<Record<"collection" | "object", readonly OperationEntry[]>> {
  if (config.unique === undefined) return { collection: collectionOperations, object: objectOperations };
  const ruled = (entry: OperationEntry): OperationEntry =>
    entry.body === undefined ? entry : { ...entry, problems: [...entry.problems, "unique"] };
  return {
    collection: [...collectionOperations, upsertOperation].map(ruled),
    object: objectOperations.map(ruled),
  };
}

/** The fields of all unique rules; a request names those of one. */
export function upsertParameters({ schema, config }: LiveResource): readonly JsonObject[] {
  const { unique = [] } = config;
  const rulesByField = Map.groupBy(
    unique.flatMap(({ fields }) => fields.map(({ name }) => ({ name, fields }))),
    ({ name }) => name,
  );
  return [...rulesByField].map(([name, rules]) => {
    const forms = rules.map(({ fields }) => fields.map((field) => `\`${field.name}\``).join(" and "));
    const types = schema.properties.get(name)?.types.filter((type) => type !== "null") ?? [];
    const parameter = query(name, `Of the unique rule ${forms.join(", or ")}.`, valueSchema(types));
    return rules.length === unique.length ? { ...parameter, required: true } : parameter;
  });
}
