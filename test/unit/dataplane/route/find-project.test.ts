import { describe, expect, it } from "vitest";
import { hostName } from "../../../../dataplane/route/find-project.ts";

describe("the host that a request names", () => {
  it.each([
    ["api.example.org", "api.example.org"],
    ["API.Example.ORG:8080", "api.example.org"],
    ["api.example.org.", "api.example.org"],
    ["api.example.org.:8080", "api.example.org"],
    ["api.example.org..", "api.example.org."],
    ["[::1]", "[::1]"],
    ["[::1]:80", "[::1]"],
    ["", ""],
  ])("%s is %s", (host, name) => {
    expect(hostName(host)).toBe(name);
  });
});
