import { describe, expect, it } from "vitest";
import type { Directory, LiveProject, Lookup } from "../../../../dataplane/config/directory.ts";
import { findProject, hostName, publicAddress } from "../../../../dataplane/route/find-project.ts";

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

describe("a request on a host whose claim can't be followed", () => {
  const live = {} as LiveProject;
  /** On every path there is a project. */
  const directoryWhere = (host: Lookup<LiveProject>) =>
    ({ host: async () => host, project: () => ({ outcome: "found", value: live }) }) as unknown as Directory;
  const find = async (host: Lookup<LiveProject>, segments: readonly string[]) =>
    findProject({ directory: directoryWhere(host), address: publicAddress("") }, "shop.example.org", segments);

  it.each([[["api", "books"]], [["docs"]], [[]]])("is refused at /%s as unavailable", async (segments) => {
    await expect(find({ outcome: "unavailable" }, segments)).rejects.toMatchObject({ code: "project_unavailable" });
  });

  it("is looked up by its path once the host is known to be unclaimed", async () => {
    expect(await find({ outcome: "unknown" }, ["api", "books"])).toEqual({
      project: live,
      base: "/api/books",
      segments: [],
    });
  });
});
