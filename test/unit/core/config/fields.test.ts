import { expect, it } from "vitest";
import { readProjectField } from "../../../../core/config/fields.ts";

it("a project that an older operator published lets users and keys read its description", () => {
  expect(readProjectField("project", '{"name":"shop"}')?.value).toEqual({ name: "shop", openapi: "Authenticated" });
  expect(readProjectField("project", '{"openapi":"Nobody"}')?.value).toEqual({ openapi: "Nobody" });
});
