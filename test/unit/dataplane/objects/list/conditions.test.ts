import { expect, it } from "vitest";
import { createdRange, isCreatedRange } from "../../../../../dataplane/objects/list/conditions.ts";
import type { Filter } from "../../../../../dataplane/objects/list/filters.ts";
import { beginningOfIds } from "../../../../../dataplane/objects/object-ids.ts";

const created = (operator: string, text: string): Filter =>
  ({ name: "_metadata.created", path: ["_metadata", "created"], operator, values: [text] }) as unknown as Filter;
const all = Number.POSITIVE_INFINITY;

it("a range of times is one of ids, which a filter in another form leaves as it is", () => {
  const range = { from: beginningOfIds(10), to: beginningOfIds(21) };
  expect(createdRange([created("ge", "10"), created("le", "20")])).toEqual(range);
  expect(createdRange([created("ge", "10"), created("ne", "15"), created("le", "20")])).toEqual(range);
  expect([created("ge", "10"), created("ne", "15")].map(isCreatedRange)).toEqual([true, false]);
});

it("filters that bound no time have none, a property of the same name included", () => {
  expect(createdRange([created("ne", "15"), created("in", "15")])).toBeUndefined();
  const property = { ...created("ge", "10"), path: ["_metadata.created"] } as Filter;
  expect([createdRange([property]), isCreatedRange(property)]).toEqual([undefined, false]);
  expect(createdRange([created("gt", "10")])).toEqual({ from: beginningOfIds(11), to: beginningOfIds(all) });
});
