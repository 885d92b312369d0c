import { expect, it } from "vitest";
import { createSeedProgress } from "../../../../../cli/dev/seed/seeder.ts";

function shown(isTTY: boolean, total: number): readonly string[] {
  const written: string[] = [];
  const observe = createSeedProgress({ isTTY, write: (text) => written.push(text) });
  for (const stored of [0, total / 2, total]) observe({ name: "books", stored, total });
  return written.map((text) => text.replace("\r\u001b[2K", ""));
}

it("shows a bar at a terminal while thousands are stored, and takes it away", () => {
  expect(shown(true, 4_000)).toEqual([
    "Seeding books [........................] 0 of 4000",
    "Seeding books [############............] 2000 of 4000",
    "",
  ]);
});

it("shows none for a few objects, nor where there is no terminal", () => {
  expect([...shown(true, 10), ...shown(false, 4_000)]).toEqual([]);
});
