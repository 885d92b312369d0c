// Which fields of a project have to be written, and in which steps.

import { describe, expect, it } from "vitest";
import { newKeyringText, newRingKey, parseKeyring } from "../../../../core/config/keyring.ts";
import type { CompiledProject } from "../../../../core/config/types.ts";
import {
  type Change,
  changesOf,
  type PublishedContent,
  type PublishedField,
  resealsOf,
} from "../../../../operator/publish/project-fields.ts";
import { manyUsers } from "../../../support/fleet/publishing.ts";
import { changed, project, withConfig, withoutUser, withResource, withUser } from "../../../support/http/projects.ts";

const keyring = parseKeyring(newKeyringText());
const shop = project("shop", withUser("ann"), withResource("books"));
const nothing: PublishedContent = { fields: new Map(), revision: 0, config: undefined };

/** As Redis holds it after all of `config` was written. */
function written(config: CompiledProject): PublishedContent {
  const kid = keyring.keys[0].kid;
  const fields = new Map<string, PublishedField>();
  for (const { changed: texts } of changesOf(config, keyring, nothing)) {
    for (const { field, contentHash } of texts) fields.set(field, { contentHash, kid });
  }
  return { fields, revision: 7, config };
}

const names = (steps: readonly Change[]) => steps.flatMap((step) => step.changed.map(({ field }) => field));

describe("what has to be written", () => {
  it("is everything at first, nothing when all is there, and only what differs after a change", () => {
    expect(names(changesOf(shop, keyring, nothing))).toEqual([
      "project",
      "signing",
      "resource:books",
      expect.stringMatching(/^user:[0-9a-f]{64}$/),
    ]);
    expect(changesOf(shop, keyring, written(shop))).toEqual([]);
    const next = changed(shop, withResource("books", { maxObjects: 3 }));
    expect(names(changesOf(next, keyring, written(shop)))).toEqual(["resource:books"]);
  });

  it("is everything for a Project that was made anew: the same text means another thing", () => {
    const anew = changed(shop, withConfig({ uid: "another" }));
    expect(names(changesOf(anew, keyring, written(shop)))).toHaveLength(4);
  });

  it("removes what is no more", () => {
    const [step, ...others] = changesOf(changed(shop, withoutUser("ann")), keyring, written(shop));
    expect(others).toEqual([]);
    expect(step).toEqual({ changed: [], removed: [expect.stringMatching(/^user:/)], last: true });
  });

  it("is one step without a field when the index of projects lost the project", () => {
    const lost = { ...written(shop), revision: 0 };
    expect(changesOf(shop, keyring, lost)).toEqual([{ changed: [], removed: [], last: true }]);
  });

  it.each([
    [196, [200]],
    [197, [200, 1]],
    [500, [200, 200, 104]],
  ])("comes in steps of 200 fields, with %i users more, of which only the last one is the last", (users, sizes) => {
    const steps = changesOf(manyUsers(shop, users), keyring, nothing);
    expect(steps.map((step) => step.changed.length)).toEqual(sizes);
    expect(steps.map((step) => step.last)).toEqual(sizes.map((_, at) => at === sizes.length - 1));
  });

  it("begins with all removals, which are revocations: they hold together", () => {
    const before = written(manyUsers(shop, 450));
    const sizes = (steps: readonly Change[]) => steps.map((step) => [step.changed.length, step.removed.length]);
    expect(sizes(changesOf(shop, keyring, before))).toEqual([[0, 450]]);
    const anew = changed(manyUsers(shop, 210), withConfig({ uid: "another" }));
    expect(sizes(changesOf(anew, keyring, before))).toEqual([
      [200, 240],
      [14, 0],
    ]);
  });
});

describe("what has to be sealed anew", () => {
  it("is what another key than the first has sealed", () => {
    const known = written(shop);
    expect(resealsOf(shop, keyring, known.fields)).toEqual([]);
    const fresh = newRingKey((size) => new Uint8Array(size).fill(1));
    const promoted = { ...keyring, keys: [fresh, ...keyring.keys] as const };
    expect(names(resealsOf(shop, promoted, known.fields))).toHaveLength(4);
    const user = [...known.fields.keys()].find((field) => field.startsWith("user:")) ?? "";
    const some = new Map(known.fields).set(user, { contentHash: "", kid: fresh.kid });
    expect(names(resealsOf(shop, promoted, some))).toHaveLength(3);
  });
});
