import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { Problem } from "../../../../core/errors/problem.ts";
import { preconditionsOf } from "../../../../dataplane/http/conditional-requests.ts";

/**
 * Ends what would hang the whole test run; each blank read once takes milliseconds, blanks tried in
 * pairs an hour.
 */
const hangMs = 30_000;

it.each([
  ["before a bad character", `,${" ".repeat(2_000_000)}x`],
  ["behind a tag and before a bad character", `"a"${"\t ".repeat(1_000_000)}x`],
])("a list of entity tags with millions of blanks %s is refused by reading it once", (_, header) => {
  const read = () => preconditionsOf({ "if-none-match": header });
  expect(() => runInNewContext("read()", { read }, { timeout: hangMs })).toThrow(Problem);
});

it("blanks around entity tags and commas, and empty elements, are allowed", () => {
  expect(preconditionsOf({ "if-match": ' "a" ,\t, W/"b"\t' })).toEqual({
    ifMatch: [
      { isWeak: false, opaque: '"a"' },
      { isWeak: true, opaque: '"b"' },
    ],
  });
});
