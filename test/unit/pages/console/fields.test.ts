import { expect, it } from "vitest";
import { readFields } from "../../../../pages/console/fields.ts";
import { OpenApiDocument } from "../../../../pages/console/open-api-document.ts";

it("an element of a list is told apart from a property that is called item", () => {
  const schema = {
    required: ["item"],
    properties: { item: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
  };
  const [property, list] = readFields(new OpenApiDocument({}), schema);
  expect(property).toMatchObject({ name: "item", isRequired: true });
  expect(property).not.toHaveProperty("isElement");
  expect(list?.control).toMatchObject({ kind: "list", item: { isElement: true } });
});
