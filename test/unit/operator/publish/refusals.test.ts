// Which Redis is left to another installation.

import { describe, expect, it } from "vitest";
import {
  ForeignInstallation,
  KeyRingCopied,
  newEpoch,
  type RedisRefused,
  refusalOf,
  ringLocationIn,
} from "../../../../operator/publish/refusals.ts";

const me = { owner: "ours", ringLocation: "here/ring/uid" };
const epochAt = (ringLocation: string): string =>
  newEpoch(ringLocation, "somebody", "b7b4e3e1-0000-4000-8000-000000000000");

describe("a Redis is this installation's", () => {
  it.each<readonly [string, string | undefined, string]>([
    ["that is nobody's", undefined, ""],
    ["where the writer has the same location", me.owner, epochAt(me.ringLocation)],
  ])("%s", (_, owner, epoch) => {
    expect(refusalOf({ owner, epoch }, me)).toBeUndefined();
  });
});

describe("a Redis is left to another installation", () => {
  it.each<readonly [string, string, string, typeof RedisRefused]>([
    ["with another ring", "theirs", "there/ring/other", ForeignInstallation],
    ["whose ring was in the same location", "theirs", me.ringLocation, ForeignInstallation],
    ["with a copy of the ring in another namespace", me.owner, "there/ring/other", KeyRingCopied],
    ["with a copy in a namespace of the same name in another cluster", me.owner, "here/ring/other", KeyRingCopied],
    ["with a copy in another Secret", me.owner, "here/ring-red/uid", KeyRingCopied],
  ])("%s, which the refusal names, and its message doesn't", (_, owner, location, kind) => {
    const refusal = refusalOf({ owner, epoch: epochAt(location) }, me);
    expect(refusal).toBeInstanceOf(kind);
    expect(refusal?.writer).toBe(location);
    expect(refusal?.message).toContain("--adopt-data");
    expect(refusal?.message).not.toContain(location);
  });

  it.each([
    ["with another ring", "theirs", ForeignInstallation],
    ["with this one's", me.owner, KeyRingCopied],
  ])("%s, whose epoch names no location", (_, owner, kind) => {
    const refusal = refusalOf({ owner, epoch: "a6a3d2d0-0000-4000-8000-000000000000" }, me);
    expect(refusal).toBeInstanceOf(kind);
    expect(refusal?.writer).toBe("");
  });
});

it("an epoch that is none names no location", () => {
  for (const epoch of ["", "#", "here", "here#name", "here#name#id#more", "#name#id"])
    expect(ringLocationIn(epoch)).toBe("");
});
