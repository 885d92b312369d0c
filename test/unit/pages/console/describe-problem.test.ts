// What a person reads of a refused request.

import { expect, it } from "vitest";
import { describeFault, describeProblem, unreachable } from "../../../../pages/console/describe-problem.ts";
import type { Field } from "../../../../pages/console/fields.ts";

it.each([
  [unreachable, "The server can't be reached. Try again."],
  [
    { status: 403, title: "Forbidden", detail: "Only administrators may." },
    "You may not do this. Only administrators may.",
  ],
  [{ status: 404, title: "Not found", detail: "No object has this id." }, "This does not exist, or it was deleted."],
  [{ status: 503, title: "Busy" }, "Busy."],
  [{ status: 400, title: "Not valid", detail: "Write a number, as `1`." }, "Not valid. Write a number, as 1."],
  [{ status: 401, code: "token_expired", title: "Unauthorized" }, "Your sign-in has expired."],
  [{ status: 401, title: "Unauthorized", detail: "Send a header." }, "Your credentials are no longer accepted."],
  [
    {
      status: 400,
      title: "The object does not match its schema",
      detail: "/a: Missing, and 1 more in `errors`",
      code: "validation_failed",
      errors: [{ pointer: "/a", message: "Missing" }],
    },
    "Some fields are not right yet. They are marked below.",
  ],
  [
    { status: 422, title: "Reused", code: "idempotency_key_reused" },
    "An earlier attempt has created the object, with another text. Look for it in the list; Create adds a second one.",
  ],
])("%j is said as %j", (problem, words) => {
  expect(describeProblem(problem, true)).toBe(words);
});

it.each([
  [{}, { keyword: "required", message: 'The member "a" is missing' }, "Fill this in."],
  [{}, { keyword: "pattern", message: 'Must match the pattern "^97"' }, "This does not have the right form."],
  [{ description: "13 digits." }, { keyword: "pattern", message: 'Must match the pattern "^97"' }, "13 digits."],
  [{ control: { kind: "choice" } }, { keyword: "enum", message: 'Must be one of "a", "b"' }, "Choose one."],
  [
    { control: { kind: "choice" } },
    { keyword: "unique", message: "Another object has this value" },
    "Another object has this value.",
  ],
  [{}, { keyword: "minimum", message: "Must be at least 0" }, "Must be at least 0."],
])("of a field %j, %j is said as %j", (part, fault, words) => {
  const field = {
    name: "a",
    label: "a",
    types: [],
    isRequired: true,
    control: { kind: "text", isLong: false },
    ...part,
  };
  expect(describeFault(field as Field, { pointer: "/a", ...fault })).toBe(words);
});

it("who has not signed in is told so", () => {
  expect(describeProblem({ status: 401, title: "Unauthorized" }, false)).toBe("You have to sign in for this.");
});
