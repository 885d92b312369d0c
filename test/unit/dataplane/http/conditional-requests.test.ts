import { expect, it } from "vitest";
import { Problem } from "../../../../core/errors/problem.ts";
import { preconditionsOf } from "../../../../dataplane/http/conditional-requests.ts";

// Milliseconds where each blank is read once; an hour where they are tried in pairs.
it.each([
  ["before a bad character", `,${" ".repeat(2_000_000)}x`],
  ["behind a tag and before a bad character", `"a"${"\t ".repeat(1_000_000)}x`],
])("a list of entity tags with millions of blanks %s is refused by reading it once", (_, header) => {
  expect(() => preconditionsOf({ "if-none-match": header })).toThrow(Problem);
});

it("blanks around entity tags and commas, and empty elements, are allowed", () => {
  expect(preconditionsOf({ "if-match": ' "a" ,\t, W/"b"\t' })).toEqual({
    ifMatch: [
      { isWeak: false, opaque: '"a"' },
      { isWeak: true, opaque: '"b"' },
    ],
  });
});
