import { expect, it } from "vitest";
import { parseBody } from "../../../../dataplane/http/read-body.ts";

/** Counts the turns that it gives. */
function countedTurns() {
  const counted = { turns: 0 };
  const inTurn = <T>(work: () => T): T => {
    counted.turns += 1;
    return work();
  };
  return Object.assign(counted, { inTurn });
}

it("reads a body of a mebibyte in a turn for each 32 KiB, one that is wrong at its end alike", async () => {
  const text = `[${"0,".repeat(512 * 1024 - 1)}0]`;
  const right = countedTurns();
  await parseBody(Buffer.from(text), right);
  expect(right.turns).toBe(33);
  const wrong = countedTurns();
  await expect(parseBody(Buffer.from(text.replace(/]$/, "}")), wrong)).rejects.toMatchObject({
    code: "malformed_json",
  });
  expect(wrong.turns).toBe(33);
});

it("reads a usual body in one turn", async () => {
  const limiter = countedTurns();
  expect(await parseBody(Buffer.from('{"a":[1,2]}'), limiter)).toEqual({
    text: '{"a":[1,2]}',
    kind: "object",
    depth: 2,
  });
  expect(limiter.turns).toBe(1);
});
