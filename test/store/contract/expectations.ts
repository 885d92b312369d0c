// Writes that say what they want to find: they take place only while it is there, in one atomic
// step, and change nothing otherwise.

import { describe, expect, it } from "vitest";
import type { Store } from "../../../dataplane/store/port.ts";
import type { DocumentWrite, Expected } from "../../../dataplane/store/ports/documents.ts";
import type { Path } from "../../../dataplane/store/ports/refs.ts";
import { objectOf } from "../../support/store/stored-objects.ts";
import { documentOf, textAt } from "./document-steps.ts";
import { freshCollection, type MakeStore, type StoreUnderTest, twoReplicas, useStore } from "./fixture.ts";

type Subject = () => StoreUnderTest;

const maxBytes = 1024 * 1024;
const mayCreate = { maxBytes, mayCreate: true };
const changed = { outcome: "changed" } as const;
const value = '{"o":{"k":1.0,"0":"zero"},"l":[10,[20],{"x":[]}],"q\\"":{"in":[1]},"s":"é"}';

/** Paths with what is there; keys that Redis JSON can't name as well. */
const places: readonly (readonly [Path, string])[] = [
  [["o", "k"], "1.0"],
  [["o", "0"], '"zero"'],
  [["o"], '{"k":1.0,"0":"zero"}'],
  [["l", "1"], "[20]"],
  [["l", "2", "x"], "[]"],
  [["s"], '"é"'],
  [['q"'], '{"in":[1]}'],
  [['q"', "in", "0"], "1"],
];
const free: readonly Path[] = [["o", "new"], ["new"], ["o", 'n"'], ['q"', "new"]];

export function describeExpectations(name: string, make: MakeStore): void {
  describe(`${name}: expectations`, () => {
    const subject = useStore(make);
    describeValues(subject);
    describeOrder(subject);
    describeRaces(subject);
    describeObjects(subject);
  });
}

function describeValues(subject: Subject): void {
  for (const [path, text] of places) {
    const at = JSON.stringify(path);

    it(`puts and removes at ${at} while the expected text is there, and only then`, async () => {
      const { store } = subject();
      for (const expected of [{ text: `${text}0` }, "nothing", "never"] as const) {
        const document = await documentOf(store, value);
        expect(await store.putAt(document, path, "9", { ...mayCreate, expected })).toEqual(changed);
        expect(await store.removeAt(document, path, { expected })).toEqual(changed);
        expect(await textAt(store, document)).toBe(value);
      }
      const document = await documentOf(store, value);
      expect(await store.putAt(document, path, "9", { ...mayCreate, expected: { text } })).toEqual({
        outcome: "replaced",
        text: "9",
      });
      expect(await store.removeAt(document, path, { expected: { text } })).toEqual(changed);
      expect(await store.removeAt(document, path, { expected: { text: "9" } })).toEqual({ outcome: "removed" });
    });
  }

  it("puts the whole value while the expected one is there, and only then", async () => {
    const { store } = subject();
    const document = await documentOf(store, value);
    expect(await store.putAt(document, [], "[]", { ...mayCreate, expected: { text: "{}" } })).toEqual(changed);
    expect(await store.putAt(document, [], "[]", { ...mayCreate, expected: { text: value } })).toEqual({
      outcome: "replaced",
      text: "[]",
    });
  });

  for (const path of free) {
    it(`adds ${JSON.stringify(path)} where nothing is expected, and not where something is`, async () => {
      const { store } = subject();
      for (const write of writers(store, path)) {
        const document = await documentOf(store, value);
        for (const expected of [{ text: "1" }, { text: "" }, "never"] as const) {
          expect(await write(document, expected)).toEqual(changed);
        }
        expect(await textAt(store, document)).toBe(value);
        expect(await write(document, "nothing")).toEqual({ outcome: "created", text: "9" });
      }
    });
  }

  it("inserts into an array before the expected element, and at its end where nothing is", async () => {
    const { store } = subject();
    const document = await documentOf(store, "[1,[2]]");
    const insert = (path: Path, expected: Expected) => store.insertAt(document, path, "9", { maxBytes, expected });
    expect(await insert(["1"], { text: "[3]" })).toEqual(changed);
    expect(await insert(["1"], "nothing")).toEqual(changed);
    expect(await insert(["-"], { text: "[2]" })).toEqual(changed);
    expect(await insert(["1"], { text: "[2]" })).toEqual({ outcome: "created", text: "9" });
    expect(await insert(["3"], "nothing")).toEqual({ outcome: "created", text: "9" });
    expect(await insert(["-"], "nothing")).toEqual({ outcome: "created", text: "9" });
    expect(await textAt(store, document)).toBe("[1,9,[2],9,9]");
  });
}

type Write = (document: Parameters<Store["putAt"]>[0], expected: Expected) => Promise<DocumentWrite>;

function writers(store: Store, path: Path): readonly Write[] {
  return [
    (document, expected) => store.putAt(document, path, "9", { ...mayCreate, expected }),
    (document, expected) => store.insertAt(document, path, "9", { maxBytes, expected }),
  ];
}

function describeOrder(subject: Subject): void {
  it("refuses what can't be done at all before it looks at what is expected", async () => {
    const { store } = subject();
    const document = await documentOf(store, value);
    const never = { maxBytes, expected: "never" } as const;
    const put = (path: Path, may = true) => store.putAt(document, path, "9", { ...never, mayCreate: may });
    for (const parent of [["o"], ['q"']]) {
      expect(await put([...parent, "none", "k"])).toEqual({ outcome: "parent_not_found" });
      expect(await put([...parent, "new"], false)).toEqual({ outcome: "create_refused" });
      expect(await store.removeAt(document, [...parent, "new"], never)).toEqual({ outcome: "not_found" });
    }
    expect(await put(["s", "k"])).toEqual({ outcome: "not_a_container" });
    expect(await put(["l", "x"])).toEqual({ outcome: "invalid_index" });
    expect(await put(["l", "3"])).toEqual({ outcome: "index_not_found", length: 3 });
    expect(await store.insertAt(document, ["l", "4"], "9", never)).toEqual({
      outcome: "index_out_of_range",
      length: 3,
    });
    expect(await textAt(store, document)).toBe(value);
  });

  it("refuses an insert over an existing key as changed when nothing was expected there", async () => {
    const { store } = subject();
    const document = await documentOf(store, value);
    const insert = (path: Path, expected: Expected) => store.insertAt(document, path, "9", { maxBytes, expected });
    for (const path of [["o", "k"], ['q"']]) expect(await insert(path, "nothing")).toEqual(changed);
    expect(await insert(["o", "k"], { text: "1.0" })).toEqual({ outcome: "key_exists" });
    expect(await insert(['q"'], { text: '{"in":[1]}' })).toEqual({ outcome: "key_exists" });
  });
}

function describeRaces(subject: Subject): void {
  for (const path of [["n"], ['n"']]) {
    it(`lets one of many win that expect the same at ${JSON.stringify(path)}`, async () => {
      const stores = await twoReplicas(subject());
      const document = await documentOf(stores[0], JSON.stringify({ [path[0] as string]: 0 }));
      for (let round = 0; round < 5; round += 1) {
        const expected = { text: await textAt(stores[1], document, path) };
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            stores[n % 2 === 0 ? 0 : 1].putAt(document, path, `${round + 1}${n + 10}`, { ...mayCreate, expected }),
          ),
        );
        const winners = answers.filter(({ outcome }) => outcome === "replaced");
        expect(winners).toEqual([{ outcome: "replaced", text: await textAt(stores[0], document, path) }]);
      }
    });
  }
}

function describeObjects(subject: Subject): void {
  it("removes an object while its text is the expected one, and only then", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const object = objectOf(1, { n: "1" });
    await store.create(collection, object, 10);
    expect(await store.removeUnchanged(collection, object.id, { text: objectOf(1, { n: "2" }).text })).toBe("conflict");
    expect(await store.read(collection, object.id, {})).toEqual({ text: object.text });
    expect(await store.removeUnchanged(collection, object.id, object)).toBe("removed");
    expect(await store.removeUnchanged(collection, object.id, object)).toBe("not_found");
    expect(await store.count(collection, {})).toBe(0);
  });

  it("removes an object once when many expect the same of it, and never what another write made of it", async () => {
    const stores = await twoReplicas(subject());
    for (let n = 0; n < 10; n += 1) {
      const collection = freshCollection();
      const object = objectOf(n, { n: "1" });
      const fresh = objectOf(n, { n: "2" });
      await stores[0].create(collection, object, 10);
      const [replaced, ...removed] = await Promise.all([
        stores[0].replace(collection, fresh, object),
        stores[1].removeUnchanged(collection, object.id, object),
        stores[0].removeUnchanged(collection, object.id, object),
      ]);
      const wins = [replaced.outcome === "replaced", ...removed.map((outcome) => outcome === "removed")];
      expect(wins.filter(Boolean)).toHaveLength(1);
      const left = await stores[1].read(collection, object.id, {});
      expect(left).toEqual(replaced.outcome === "replaced" ? { text: fresh.text } : undefined);
    }
  });
}
