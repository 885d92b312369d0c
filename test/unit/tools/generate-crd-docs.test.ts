import { expect, it } from "vitest";
import { generateCrdDocs } from "../../../tools/generate-crd-docs.ts";

const page = (await generateCrdDocs()).get("docs/reference/custom-resources.md") ?? "";

it.each([
  ["a default of the schema", "spec.limits.maxBodyBytes", "`1048576`"],
  [
    "one that depends on another field, and that the description alone has",
    "spec.limits.rate.caller.burst",
    "requestsPerSecond",
  ],
  ["the same, with its condition", "spec.limits.maxObjectBytes", "1048576, or maxBodyBytes if that is more"],
  ["required", "spec.limits.rate.caller.requestsPerSecond", "**required**"],
])("the page of custom resources has in the column Default: %s", (_what, field, value) => {
  const [row = ""] = page.split("\n").filter((line) => line.startsWith(`| \`${field}\` |`));
  expect(row.split(" | ")[2]?.trim()).toBe(value);
});

it("no default is left in a description of the page", () => {
  expect(page).not.toContain("Default: ");
});
