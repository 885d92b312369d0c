import { expect, it } from "vitest";
import { readMigration } from "../../../../core/config/migration.ts";
import { compileSchema } from "../../../../core/schema/compile-schema.ts";
import { checkStep, nothingChecked } from "../../../../dataplane/objects/check/check-step.ts";
import { objectOf } from "../../../support/store/stored-objects.ts";

it("requests are served between two objects that go through a patch, which may take long", async () => {
  const compiled = compileSchema({ required: ["title"] });
  if (!compiled.ok) throw new Error("The schema is valid");
  const migration = readMigration([{ op: "add", path: "/title", value: "" }]);
  const texts = [1, 2, 3].map((n) => objectOf(n, {}).text);
  const store = { pageAfter: async () => ({ outcome: "page" as const, texts, next: undefined }) };
  const collection = { project: { namespace: "default", name: "shop" }, resource: "books" };
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  const rules = { schema: compiled.schema, maxBytes: 1_000, migration };
  const checked = await checkStep({ store: store as never, collection, rules }, nothingChecked);
  clearImmediate(next);
  expect(checked.figures).toMatchObject({ checked: 3, migrated: 3 });
  expect(turns).toBeGreaterThanOrEqual(texts.length);
});
