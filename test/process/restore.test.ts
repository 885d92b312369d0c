// `jsonplane restore`, as a person runs it: what it brings back of backups, and what it refuses.

import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { describe, expect, it } from "vitest";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { objectOf } from "../support/store/stored-objects.ts";
import {
  anew,
  backup,
  bucketFlags,
  count,
  folder,
  logged,
  placeInBucket,
  placeInFolder,
  report,
  restore,
  shop,
  store,
  stored,
} from "./backed-up-projects.ts";

const nothing = { books: [], posts: [], flags: undefined };

describe("what was backed up", () => {
  it.each(["a folder", "a bucket"])(
    "to %s is restored byte for byte into a Redis that has none of it",
    async (kind) => {
      const before = await stored();
      const [place, flagsOfPlace] = kind === "a folder" ? [placeInFolder(), []] : [placeInBucket(), bucketFlags()];
      expect(await backup(place, ...flagsOfPlace)).toMatchObject({ code: 0, error: "" });
      expect(await report()).toMatchObject({ projects: 2, objects: count + 4 });
      await anew();
      const one = await restore(place, ...flagsOfPlace, "--projects", keyOfProject(shop));
      expect(one).toMatchObject({
        code: 0,
        error: "",
        out: expect.stringContaining(`default/shop: ${count + 1} created (default`),
      });
      expect(await stored()).toEqual({ ...before, posts: [] });
      const all = await restore(place, ...flagsOfPlace, "--projects", "*");
      expect(all).toMatchObject({ code: 0, out: expect.stringContaining(`default/shop: ${count + 1} unchanged`) });
      expect(await stored()).toEqual(before);
      // The unique rule knows what was restored.
      const twin = await store.create(logged, objectOf(9_999, { isbn: '"1"' }), 10_000);
      expect(twin.outcome).toBe("not_unique");
    },
  );

  it("of one Project is restored, whatever is wrong with another", async () => {
    await backup(placeInFolder());
    await cp(join(placeInFolder(), "default/shop"), join(placeInFolder(), "default/gone"), { recursive: true });
    const [name = ""] = await readdir(join(placeInFolder(), "default/shop"));
    await writeFile(join(placeInFolder(), "default/shop", name), "damaged");
    const restored = await restore(placeInFolder(), "--projects", "*");
    expect(restored).toMatchObject({ code: 1, out: expect.stringMatching(/^team-a\/blog: 3 unchanged/) });
    expect(restored.error).toContain("default/gone is not restored: default/gone is not served");
    expect(restored.error).toContain("default/shop is not restored: ");
  });

  it("has all that was asked for, or the restore fails", async () => {
    await backup(placeInFolder());
    const restored = await restore(placeInFolder(), "--projects", "*", "--only", "posts,boks");
    expect(restored).toMatchObject({ code: 1, error: "jsonplane: No backup that was read has boks\n" });
  });

  it("overwrites nothing unless it is told to, and says what it left", async () => {
    const { books: texts } = await stored();
    await backup(placeInFolder());
    const changed = { ...objectOf(1, { isbn: '"1"', price: "2.5" }) };
    await store.replace(logged, changed, { text: texts[1] ?? "" });
    const kept = await restore(placeInFolder(), "--projects", "default/*");
    expect(kept).toMatchObject({ code: 1, out: expect.stringContaining(`${count} unchanged, 1 refused`) });
    expect(kept.error).toContain(`books/${changed.id} is not restored`);
    expect((await stored()).books[1]).toBe(changed.text);
    const tried = await restore(placeInFolder(), "--projects", "default/*", "--mode", "replace", "--dry-run");
    expect(tried).toMatchObject({ code: 0, out: expect.stringContaining("1 replaced") });
    expect((await stored()).books[1]).toBe(changed.text);
    expect((await restore(placeInFolder(), "--projects", "default/*", "--mode", "replace")).code).toBe(0);
    expect((await stored()).books).toEqual(texts);
  });

  it("and is encrypted opens with its key alone", async () => {
    const before = await stored();
    const [identity, other] = await Promise.all([generateIdentity(), generateIdentity()]);
    const files = [join(folder.path, "identity.txt"), join(folder.path, "other.txt")] as const;
    await writeFile(files[0], `# created: now\n${identity}\n`);
    await writeFile(files[1], `${other}\n`);
    await backup(placeInFolder(), "--recipients", await identityToRecipient(identity));
    const [name = ""] = await readdir(join(placeInFolder(), "default/shop"));
    expect(name).toMatch(/^\d{4}-.*Z\.ndjson\.gz\.age$/);
    expect(await readFile(join(placeInFolder(), "default/shop", name), "latin1")).toMatch(/^age-encryption.org\/v1\n/);
    await anew();
    for (const words of [[], ["--identity-file", files[1]]]) {
      const refused = await restore(placeInFolder(), "--projects", "*", ...words);
      expect([refused.code, await stored()]).toEqual([1, nothing]);
      expect(refused.error).toMatch(/is encrypted|can't be used: no identity matched/);
    }
    expect((await restore(placeInFolder(), "--projects", "*", "--identity-file", files[0])).code).toBe(0);
    expect(await stored()).toEqual(before);
  });

  it("is found by its Project and time, and listed", async () => {
    await backup(placeInFolder());
    const between = new Date().toISOString();
    await backup(placeInFolder());
    const names = (await restore(placeInFolder())).out.trim().split("\n");
    expect(names.map((name) => name.split("/")[0])).toEqual(["default", "default", "team-a", "team-a"]);
    const older = await restore(placeInFolder(), "--projects", "default/shop", "--before", between);
    expect(older.out).toContain(names[0]);
    const missing = await restore(placeInFolder(), "--projects", "default/shops");
    expect(missing).toMatchObject({ code: 1, error: expect.stringContaining("no such backup of default/shops") });
  });
});

describe("a file that is not what was written", () => {
  const damages: readonly (readonly [string, (file: Buffer) => Buffer, RegExp])[] = [
    ["cut off", (file) => file.subarray(0, file.length - 20), /unexpected end of file|cut off/],
    ["cut at the end of a line", edited((text) => `${text.split("\n").slice(0, 100).join("\n")}\n`), /cut off here/],
    ["with another price", edited((text) => text.replace("1.5,", "1.6,")), /checksum differs/],
    ["no backup at all", () => Buffer.from("hello"), /incorrect header/],
  ];
  it.each(damages)("%s is refused before anything is written", async (_what, damage, why) => {
    await backup(placeInFolder());
    const path = join(placeInFolder(), "default/shop");
    const [name = ""] = await readdir(path);
    await writeFile(join(path, name), damage(await readFile(join(path, name))));
    await anew();
    const refused = await restore(placeInFolder(), "--projects", "default/shop");
    expect([refused.code, await stored()]).toEqual([1, nothing]);
    expect(refused.error).toMatch(why);
  });

  function edited(edit: (text: string) => string): (file: Buffer) => Buffer {
    return (file) => gzipSync(edit(gunzipSync(file).toString()));
  }
});
