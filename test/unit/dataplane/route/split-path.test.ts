import { describe, expect, it } from "vitest";
import { splitTarget } from "../../../../dataplane/route/request-target.ts";

const segmentsOf = (target: string) => splitTarget(target).segments;
const faultOf = (target: string) => splitTarget(target).fault?.code;

describe("splitting a request target", () => {
  it.each([
    ["/a/b", ["a", "b"]],
    ["/a/b/", ["a", "b"]],
    ["/a?x=1/2", ["a"]],
    ["/a/%2F/b", ["a", "/", "b"]],
    ["/a/../b", ["a", "..", "b"]],
    ["/a/%2E%2E/.", ["a", "..", "."]],
    ["/a/b+c", ["a", "b+c"]],
    ["/a/%C3%A4", ["a", "ä"]],
    ["/a/%22%5C%27", ["a", "\"\\'"]],
    ["http://example.test/a/b?q", ["a", "b"]],
    ["/", []],
  ])("splits %s before it decodes", (target, segments) => {
    expect(segmentsOf(target)).toEqual(segments);
    expect(faultOf(target)).toBeUndefined();
  });

  it.each([
    ["bad hex", "/a/%zz", "invalid_path"],
    ["an encoding that is not UTF-8", "/a/%ff", "invalid_path"],
    ["NUL", "/a/%00", "invalid_path"],
    ["an empty inner segment", "/a//b", "invalid_path"],
    ["two trailing slashes", "/a//", "invalid_path"],
    ["a segment over 1 KiB", `/a/${"x".repeat(1025)}`, "path_too_long"],
    ["a segment over 1 KiB once it is UTF-8", `/a/${"%C3%A4".repeat(513)}`, "path_too_long"],
    ["a path over 8 KiB", `/${"a/".repeat(4097)}`, "path_too_long"],
    ["a path of 129 segments", "/a".repeat(129), "path_too_long"],
    ["a path of 128 segments and an empty one", `${"/a".repeat(128)}//b`, "path_too_long"],
  ])("refuses %s", (_what, target, code) => {
    expect(faultOf(target)).toBe(code);
  });

  it("keeps a segment of exactly 1 KiB and a path of exactly 8 KiB", () => {
    expect(faultOf(`/a/${"x".repeat(1024)}`)).toBeUndefined();
    expect(faultOf(`/${`${"x".repeat(1023)}/`.repeat(8).slice(0, 8191)}`)).toBeUndefined();
  });

  it("still tells the segments of a refused path, so that the request counts for its project", () => {
    expect(segmentsOf("/ns/shop/json/flags/%zz")).toEqual(["ns", "shop", "json", "flags", "%zz"]);
  });

  it("refuses a target that is no path", () => {
    expect(() => splitTarget("*")).toThrow("must be a path that starts with a slash");
  });
});
