import { ReplyError } from "ioredis";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../core/redis/failure.ts";
import { whyUnpublished } from "../../../../operator/status/why-unpublished.ts";

const refused = (answer: string) =>
  failureOf(new ReplyError(`${answer} of-a-secret`), { what: "publish", kind: "write", sent: true });

describe("why nothing could be published", () => {
  it.each([
    ["READONLY", "(READONLY): it is a replica"],
    ["OOM", "(OOM): its memory is used up; raise maxmemory or delete data"],
    ["NOPERM", "(NOPERM): the operator's user lacks a right; ACL LOG names it"],
  ])("names what Redis refuses writes for: %s", (answer, message) => {
    expect(whyUnpublished(refused(answer))).toEqual({
      reason: "PublishFailed",
      message: expect.stringContaining(`Redis refuses to write the configuration ${message}`),
    });
  });

  it.each(["TRYAGAIN", "toString"])("says that it is tried again where nobody can do anything: %s", (answer) => {
    expect(whyUnpublished(refused(answer))?.message).toContain("can't be written to Redis at the moment");
  });

  it("never shows the rest of what Redis answered", () => {
    const answers = ["READONLY", "MISCONF", "WRONGPASS", "TRYAGAIN", "ERR"];
    expect(JSON.stringify(answers.map((answer) => whyUnpublished(refused(answer))))).not.toContain("of-a-secret");
  });
});
