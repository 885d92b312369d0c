import { describe, expect, it } from "vitest";
import type { Directory, LiveProject, Lookup } from "../../../../dataplane/config/directory.ts";
import { findProject, publicAddress } from "../../../../dataplane/route/find-project.ts";

type Found = Lookup<LiveProject>;

/**
 * What a directory answers of a host, at once or after loading; a project is found at every path.
 */
function lookUp(claimed: Found | Promise<Found>) {
  const atPath = { config: { name: "at the path" } } as unknown as LiveProject;
  const directory = {
    host: () => claimed,
    project: () => ({ outcome: "found", value: atPath }),
  } as unknown as Directory;
  return findProject({ directory, address: publicAddress("") }, "shop.test", ["api", "books"]);
}

describe("a host of which it is not known whether a project claims it, or of a project that can't be loaded", () => {
  const unavailable = { outcome: "unavailable" } as const;

  it("is refused for now: a project that the path names by chance does not answer in its place", async () => {
    const refused = expect.objectContaining({ code: "project_unavailable" });
    expect(() => lookUp(unavailable)).toThrow(refused);
    await expect(lookUp(Promise.resolve(unavailable))).rejects.toEqual(refused);
  });

  it("leads to the project that the path names once it is known that none claims it", () => {
    expect(lookUp({ outcome: "unknown" })).toMatchObject({
      base: "/api/books",
      project: { config: { name: "at the path" } },
    });
  });
});
