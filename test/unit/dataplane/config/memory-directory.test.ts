import { describe, expect, test } from "vitest";
import type { CompiledProject } from "../../../../core/config/types.ts";
import type { LiveProject, LiveResource, Lookup } from "../../../../dataplane/config/directory.ts";
import { createMemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import {
  changed,
  inNamespace,
  project,
  withConfig,
  withHosts,
  withKey,
  withoutKey,
  withoutUser,
  withResource,
  withRootKey,
  withUser,
} from "../../../support/http/projects.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const schema = { type: "object", properties: { title: { type: "string" }, price: { type: "number" } } };
const bookshop = project(
  "bookshop",
  withUser("alice"),
  withKey("ci"),
  withResource("books", { schema }),
  withRootKey("flags"),
);
const library = project("library", withHosts("library.example"));
const uncompilable = withResource("books", { schema: { type: "no such type" } });

function setup(...projects: readonly CompiledProject[]) {
  const clock = manualClock();
  const memory = createMemoryDirectory(clock);
  if (projects.length > 0) memory.replace(projects);
  const live = (name = "bookshop"): LiveProject => found(memory.directory.project({ namespace: "default", name }));
  const books = (): LiveResource => {
    const resource = live().resources.get("books");
    if (resource === undefined) throw new Error("books is not live");
    return resource;
  };
  return { clock, memory, directory: memory.directory, live, books };
}

function found<T>(lookup: Lookup<T> | Promise<Lookup<T>>): T {
  if (lookup instanceof Promise || lookup.outcome !== "found") throw new Error("Not found, or not at once");
  return lookup.value;
}

describe("before anything is known", () => {
  test("every lookup is unavailable, nothing is synced, and the age grows", () => {
    const { directory, clock } = setup();
    const { live } = setup(bookshop);
    clock.advance(1500);
    expect(directory.project(bookshop.project)).toEqual({ outcome: "unavailable" });
    expect(directory.host("library.example")).toEqual({ outcome: "unavailable" });
    expect(directory.user(live(), "alice")).toEqual({ outcome: "unavailable" });
    expect(directory.key(live(), "0")).toEqual({ outcome: "unavailable" });
    expect(directory.synced()).toBe(false);
    expect(directory.projects()).toEqual([]);
    expect(directory.ageSeconds()).toBe(1.5);
  });

  test("an empty set of projects is knowledge, too", () => {
    const { memory, directory } = setup();
    memory.replace([]);
    expect(directory.project(bookshop.project)).toEqual({ outcome: "unknown" });
    expect(directory.synced()).toBe(true);
    expect(directory.ageSeconds()).toBe(0);
  });
});

describe("a project that was put in", () => {
  test("is found by namespace and name, and by each host", () => {
    const { directory, live } = setup(bookshop, library);
    expect(live().config).toBe(bookshop.project);
    expect(live().rootKeys.get("flags")?.initialValue).toBe("{}");
    expect(found(directory.host("library.example")).config.name).toBe("library");
    expect(directory.host("bookshop.example")).toEqual({ outcome: "unknown" });
    expect(directory.project({ namespace: "other", name: "bookshop" })).toEqual({ outcome: "unknown" });
    expect(directory.projects()).toEqual([
      { namespace: "default", name: "bookshop" },
      { namespace: "default", name: "library" },
    ]);
  });

  test("has its users by name and its keys by hash", () => {
    const { directory, live } = setup(bookshop);
    const [sha256 = ""] = bookshop.keys.keys();
    expect(found(directory.user(live(), "alice"))).toBe(bookshop.users.get("alice"));
    expect(found(directory.key(live(), sha256)).name).toBe("ci");
    expect(directory.user(live(), "bob")).toEqual({ outcome: "unknown" });
    expect(directory.user(live(), "constructor")).toEqual({ outcome: "unknown" });
    expect(directory.key(live(), "constructor")).toEqual({ outcome: "unknown" });
  });

  test("validates with its compiled schemas", () => {
    const { books } = setup(bookshop);
    expect(books().schema.validate({ title: "x" }, '{"title":"x"}')).toEqual([]);
    expect(books().schema.validate({ title: 7 }, '{"title":7}')).not.toEqual([]);
  });
});

describe("users and keys are those of now,", () => {
  test("also for a request that began with the project as it was", () => {
    const { memory, directory, live } = setup(bookshop);
    const before = live();
    memory.put(changed(bookshop, withoutUser("alice"), withoutKey("ci"), withUser("bob")));
    expect(directory.user(before, "alice")).toEqual({ outcome: "unknown" });
    expect(directory.key(before, [...bookshop.keys.keys()][0] ?? "")).toEqual({ outcome: "unknown" });
    expect(found(directory.user(before, "bob")).username).toBe("bob");
  });

  test("unknown once the project is gone, or is another one under the same name", () => {
    const { memory, directory, live } = setup(bookshop, library);
    const before = live();
    memory.put(changed(bookshop, withConfig({ uid: "made-anew" })));
    expect(directory.user(before, "alice")).toEqual({ outcome: "unknown" });
    expect(found(directory.user(live(), "alice")).username).toBe("alice");
    memory.remove(bookshop.project);
    expect(directory.user(before, "alice")).toEqual({ outcome: "unknown" });
    expect(directory.project(bookshop.project)).toEqual({ outcome: "unknown" });
    expect(live("library").config.name).toBe("library");
  });
});

describe("a change", () => {
  test("swaps what lookups see and leaves alone what a request began with", () => {
    const { memory, live } = setup(bookshop, library);
    const before = live();
    memory.put(changed(bookshop, withRootKey("more")));
    expect(before.rootKeys.has("more")).toBe(false);
    expect(live().rootKeys.has("more")).toBe(true);
    expect(live("library").config).toBe(library.project);
  });

  test("of the whole set removes what is no longer in it, hosts included", () => {
    const { memory, directory } = setup(bookshop, library);
    memory.replace([bookshop]);
    expect(directory.project(library.project)).toEqual({ outcome: "unknown" });
    expect(directory.host("library.example")).toEqual({ outcome: "unknown" });
  });

  test("keeps the resource object, its schema and its revision where the config is equal", () => {
    const { memory, books, clock } = setup(bookshop);
    const before = books();
    clock.advance(1000);
    memory.replace([structuredClone(bookshop)]);
    expect(books()).toBe(before);
  });

  test("raises the revision of a changed resource, and compiles only a changed schema", () => {
    const { memory, books, clock } = setup(bookshop);
    const first = books();
    memory.put(changed(bookshop, withResource("books", { schema: structuredClone(schema), indexes: ["title"] })));
    const second = books();
    expect(second.schema).toBe(first.schema);
    expect(second.revision).toBeGreaterThan(first.revision);
    clock.advance(-10_000);
    memory.put(changed(bookshop, withResource("books", { schema: { type: "object" } })));
    expect(books().schema).not.toBe(first.schema);
    expect(books().revision).toBeGreaterThan(second.revision);
  });

  test("made after a restart is newer than everything before it", () => {
    const { books, clock } = setup(bookshop);
    clock.advance(1);
    const restarted = createMemoryDirectory(clock);
    restarted.replace([changed(bookshop, withResource("books", { schema, indexes: ["price"] }))]);
    const live = found(restarted.directory.project(bookshop.project));
    expect(live.resources.get("books")?.revision).toBeGreaterThan(books().revision);
  });

  test("may name the revisions of its resources", () => {
    const { memory, books } = setup();
    memory.put(bookshop, new Map([["books", 7]]));
    expect(books().revision).toBe(7);
  });

  test("that names a new revision of an equal config takes it, and keeps the schema", () => {
    const { memory, books } = setup();
    memory.put(bookshop, new Map([["books", 7]]));
    const before = books();
    memory.put(structuredClone(bookshop), new Map([["books", 9]]));
    expect(books().revision).toBe(9);
    expect(books().schema).toBe(before.schema);
  });

  test("that leaves the ring equal keeps the ring object, by which verified tokens are remembered", () => {
    const { memory, live } = setup(bookshop);
    const before = live().signing;
    memory.put(structuredClone(bookshop));
    expect(live().signing).toBe(before);
  });
});

describe("a schema that can't be compiled", () => {
  test("is reported, its resource keeps the last good version, and its neighbours never notice", () => {
    const { memory, books, live } = setup(changed(bookshop, withResource("authors")));
    const before = books();
    const refused = memory.put(changed(bookshop, withResource("authors", { maxObjects: 5 }), uncompilable));
    expect(refused).toEqual([
      {
        project: { namespace: "default", name: "bookshop" },
        resource: "books",
        keptLastGood: true,
        problems: [expect.objectContaining({ message: expect.any(String) })],
      },
    ]);
    expect(books()).toBe(before);
    expect(live().resources.get("authors")?.config.maxObjects).toBe(5);
  });

  test("is left out when there was no good version", () => {
    const { memory, live } = setup();
    expect(memory.replace([changed(bookshop, uncompilable)])).toMatchObject([{ keptLastGood: false }]);
    expect(live().resources.has("books")).toBe(false);
  });
});

test("of two projects that name one host, all lookups find the first", () => {
  const { memory, directory } = setup();
  memory.replace([library, changed(library, inNamespace("other"))]);
  expect(found(directory.host("library.example")).config.namespace).toBe("default");
});

describe("a change listener", () => {
  function listening(...projects: readonly CompiledProject[]) {
    const made = setup(...projects);
    const changes: string[] = [];
    const stop = made.directory.onChange((name) => changes.push(name));
    return { ...made, changes, stop };
  }

  test("gets the project that is put, and no other", () => {
    const { memory, changes } = listening(bookshop, library);
    memory.put(changed(bookshop, withoutKey("ci")));
    expect(changes).toEqual(["default/bookshop"]);
  });

  test("gets the project that is removed", () => {
    const { memory, changes } = listening(bookshop, library);
    memory.remove(library.project);
    expect(changes).toEqual(["default/library"]);
  });

  test("gets all projects of before and after when everything is replaced", () => {
    const { memory, changes } = listening(bookshop);
    memory.replace([library]);
    expect(changes).toEqual(["default/bookshop", "default/library"]);
  });

  test("finds the new configuration already when it is called", () => {
    const { memory, directory } = listening(bookshop);
    const found: unknown[] = [];
    directory.onChange(() => found.push(directory.project(bookshop.project)));
    memory.remove(bookshop.project);
    expect(found).toEqual([{ outcome: "unknown" }]);
  });

  test("is not called any more once it was removed", () => {
    const { memory, changes, stop } = listening(bookshop);
    stop();
    memory.put(bookshop);
    expect(changes).toEqual([]);
  });
});

test("who holds a host is known without its project", () => {
  const { directory } = setup(bookshop, library);
  expect(directory.hostOwner("library.example")).toBe("default/library");
  expect(directory.hostOwner("other.example")).toBeUndefined();
});
