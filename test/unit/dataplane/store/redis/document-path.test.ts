// Which paths Redis JSON can be asked for directly.

import { describe, expect, it } from "vitest";
import { addressableLength, unambiguousPath } from "../../../../../dataplane/store/redis/values/document-scripts.ts";

describe("a path", () => {
  it("is asked for directly while no segment could be an index", () => {
    expect(unambiguousPath([])).toBe("$");
    expect(unambiguousPath(["a", "b.c", "", "01", "-", "-1", "1.0", "é", "'", "*", "$", "]"])).toBe(
      `$["a"]["b.c"][""]["01"]["-"]["-1"]["1.0"]["é"]["'"]["*"]["$"]["]"]`,
    );
    for (const segment of ["0", "7", "10", "9".repeat(30)]) expect(unambiguousPath(["a", segment])).toBeUndefined();
  });

  it("can be named up to the first segment that no path can hold", () => {
    expect(addressableLength(["a", "b c", "é"])).toBe(3);
    for (const unaddressable of ['"', 'a"b', "\\", " a", " ", "a ", "\u0000", "a\nb", "\u001f", "\u007f"]) {
      expect([unaddressable, addressableLength(["a", unaddressable, "b"])]).toEqual([unaddressable, 1]);
    }
  });
});
