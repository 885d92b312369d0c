// What is logged of another installation on the same Redis.

import { expect, it } from "vitest";
import { createContestLog } from "../../../../operator/observe/contest-log.ts";

it("says at once and then once a minute that another installation has a copy of the key ring, and where its ring is", () => {
  let now = 0;
  const lines: unknown[][] = [];
  const log = createContestLog({ warn: (...line) => void lines.push(line) }, () => now);
  for (let time = 0; time < 3; time += 1) log({ kind: "answered", place: "there/uid" });
  log({ kind: "asked", place: "elsewhere/other" });
  expect(lines).toEqual([
    [expect.stringContaining("is left to it"), { namespace: "there", secretUid: "uid" }],
    [expect.stringContaining("this one keeps"), { namespace: "elsewhere", secretUid: "other" }],
  ]);
  now = 60_000;
  log({ kind: "answered", place: "there/uid" });
  expect(lines).toHaveLength(3);
});
