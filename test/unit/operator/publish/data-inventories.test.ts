import { expect, it } from "vitest";
import type { DataInventory } from "../../../../operator/model/data-inventory.ts";
import { inventoryText, parseInventory } from "../../../../operator/publish/data-inventories.ts";

const entry = { what: "resource", name: "books", uid: "u", namespaceUid: "n" } as const;
const inventory: DataInventory = {
  policy: "Delete",
  projectUid: "p",
  entries: [{ ...entry, purgeFromRevision: 5, purgeCause: "p" }],
  deletedProjects: [{ uid: "p0", purgeFromRevision: 3 }],
};
it("a data inventory is read as it was stored", () => {
  expect(parseInventory(inventoryText(inventory))).toEqual(inventory);
});

it.each(["", "null", "{}", '{"entries":{},"projectUid":"p"}', '{"entries":[]}', "{"])(
  "%j is not a data inventory",
  (text) => {
    expect(parseInventory(text)).toBeUndefined();
  },
);
