import { beforeEach, describe, expect, it } from "vitest";
import type { ProjectParts } from "../../../../core/config/types.ts";
import { type Kind, kinds } from "../../../../core/manifests/object.ts";
import {
  createReplacedDefinitions,
  type ReplacedDefinitions,
} from "../../../../operator/finalize/replaced-definitions.ts";
import type { ProjectObjects } from "../../../../operator/model/project-objects.ts";
import { project, withKey, withUser } from "../../../support/http/projects.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const all = (uid: string) => new Map(kinds.map((kind) => [kind, uid] as const));
const parts = project("shop", withKey("ci"), withUser("ann"));
const uidOf = (served: ReadonlyMap<string, { readonly uid: string }>) => [...served.values()][0]?.uid ?? "";

let current: Map<Kind, string>;
let noted: string | undefined;
let holding: Kind | undefined;
let published: ProjectParts | undefined;
let objects: ProjectObjects;

beforeEach(() => {
  current = all("first");
  noted = JSON.stringify(Object.fromEntries(current));
  holding = undefined;
  published = parts;
  objects = projectObjects("shop", stored("Project", "shop"), stored("ProjectUser", "ann"));
});

async function begun({ adopt = false } = {}): Promise<ReplacedDefinitions> {
  const replaced = createReplacedDefinitions({
    currentDefinition: (kind) => current.get(kind),
    adopt,
    holding: (kind) => (kind === holding ? ["later"] : []),
    remembered: async () => noted,
    remember: async (text) => {
      noted = text;
      return true;
    },
    publisher: async () => ({
      published: async () => [{ namespace: "default", name: "shop", hosts: [], revision: 1 }],
      load: async () => ({ revision: 1, ...(published && { parts: published }) }),
    }),
    objectsOf: () => objects,
  });
  await replaced.begin();
  await replaced.look();
  return replaced;
}

const remembered = (): unknown => JSON.parse(noted ?? "{}");
const none: ReadonlySet<string> = new Set();

describe("what is published and has no object", () => {
  it("has gone, under the definition that it was published under", async () => {
    const replaced = await begun();
    expect([replaced.lacks(objects, parts, none), replaced.held()]).toEqual([false, []]);
  });

  it("is held under another definition, and counted, until somebody releases it", async () => {
    current.set("ApiKey", "second");
    const replaced = await begun();
    expect(replaced.lacks(objects, parts, none)).toBe(true);
    expect(replaced.held()).toMatchObject([{ kind: "ApiKey", definition: "first", projects: [{ name: "shop" }] }]);
    expect(remembered()).toMatchObject({ ApiKey: "first" });
    await replaced.release("ApiKey", "another");
    expect(replaced.lacks(objects, parts, none)).toBe(true);
    await replaced.release("ApiKey", "first");
    expect([replaced.lacks(objects, parts, none), replaced.held()]).toEqual([false, []]);
    expect(remembered()).toMatchObject({ ApiKey: "second", Project: "first" });
  });

  it("has gone once it is released; what went with a later definition is held by the next process, too", async () => {
    current.set("ApiKey", "third");
    holding = "ApiKey";
    const replaced = await begun();
    await replaced.release("ApiKey", "first");
    expect(replaced.lacks(objects, parts, none)).toBe(false);
    expect(remembered()).toMatchObject({ ApiKey: "later" });
    expect((await begun()).held()).toMatchObject([{ kind: "ApiKey", definition: "later" }]);
    holding = undefined;
    objects = projectObjects("shop", stored("Project", "shop"), stored("ProjectUser", "ann"));
    published = { ...parts, keys: new Map() };
    await replaced.look();
    expect(remembered()).toMatchObject({ ApiKey: "third" });
  });

  it("has gone where a person says that what is there now is what there is", async () => {
    current = all("second");
    const replaced = await begun({ adopt: true });
    expect([replaced.lacks(objects, parts, none), replaced.held()]).toEqual([false, []]);
    expect(remembered()).toEqual(Object.fromEntries(current));
  });

  it("is held no longer than its deletion was seen", async () => {
    current.set("ApiKey", "second");
    const replaced = await begun();
    expect(replaced.lacks(objects, parts, new Set([uidOf(parts.keys)]))).toBe(false);
  });

  it("is not held once an object has its name, and the definition is remembered once that one is published", async () => {
    current = all("second");
    objects = projectObjects("shop", stored("Project", "shop"), stored("ProjectUser", "ann"), stored("ApiKey", "ci"));
    const replaced = await begun();
    expect(replaced.lacks(objects, parts, none)).toBe(false);
    expect([replaced.held(), replaced.isReplaced("ApiKey")]).toEqual([[], true]);
    published = {
      ...parts,
      keys: new Map([...parts.keys].map(([at, served]) => [at, { ...served, uid: "ApiKey ci" }])),
    };
    await replaced.look();
    expect(replaced.isReplaced("ApiKey")).toBe(false);
  });
});

describe("a definition", () => {
  it("is learnt at the first start, and when what was remembered can't be read", async () => {
    for (const text of [undefined, "[", "null", '{"ApiKey": 1}']) {
      noted = text;
      const replaced = await begun();
      expect([replaced.isReplaced("ApiKey"), remembered()]).toEqual([false, Object.fromEntries(current)]);
    }
  });

  it("is not learnt while objects of its kind are held, whose own is remembered, nor while none stands", async () => {
    holding = "ApiKey";
    current = all("second");
    current.delete("Project");
    published = undefined;
    await begun();
    expect(remembered()).toMatchObject({ ApiKey: "later", Project: "first", RootKey: "second" });
  });
});
