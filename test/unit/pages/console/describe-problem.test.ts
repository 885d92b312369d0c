// What a person reads of a refused request.

import { expect, it } from "vitest";
import { describeProblem, unreachable } from "../../../../pages/console/describe-problem.ts";

it.each([
  [unreachable, "The server can't be reached. Try again."],
  [
    { status: 403, title: "Forbidden", detail: "Only administrators may." },
    "You may not do this. Only administrators may.",
  ],
  [{ status: 404, title: "Not found" }, "This does not exist, or it was deleted."],
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
    "The object does not match its schema. What is wrong is marked below.",
  ],
  [
    { status: 422, title: "Reused", code: "idempotency_key_reused" },
    "An earlier attempt has created the object, with another text. Look for it in the list; Create adds a second one.",
  ],
])("%j is said as %j", (problem, words) => {
  expect(describeProblem(problem, true)).toBe(words);
});

it("who has not signed in is told so", () => {
  expect(describeProblem({ status: 401, title: "Unauthorized" }, false)).toBe("You have to sign in for this.");
});
