// The fields of `_metadata` that a list can be filtered by.

import type { DeclaredProperty } from "../../../core/schema/declared-properties.ts";

export const createdField = "_metadata.created";

const declared: readonly DeclaredProperty[] = [
  { name: createdField, path: ["_metadata", "created"], types: ["integer"] },
  { name: "_metadata.creator", path: ["_metadata", "creator"], types: ["string"] },
  { name: "_metadata.creator_type", path: ["_metadata", "creator_type"], types: ["string"] },
];

export const serviceFields: ReadonlyMap<string, DeclaredProperty> = new Map(
  declared.map((property) => [property.name, property]),
);
