// Which paths Redis JSON can be asked for directly.

import { describe, expect, it } from "vitest";
import { unambiguousPath } from "../../../../../dataplane/store/redis/values/document-scripts.ts";

describe("a path", () => {
  it("is asked for directly while no segment could be an index", () => {
    expect(unambiguousPath([])).toBe("$");
    expect(unambiguousPath(["a", "b.c", "", "01", "-", "-1", "1.0", "é", "'", "*", "$", "]"])).toBe(
      `$["a"]["b.c"][""]["01"]["-"]["-1"]["1.0"]["é"]["'"]["*"]["$"]["]"]`,
    );
    for (const segment of ["0", "7", "10", "9".repeat(30)]) expect(unambiguousPath(["a", segment])).toBeUndefined();
  });
});
