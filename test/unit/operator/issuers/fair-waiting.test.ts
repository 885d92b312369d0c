// Who is next of those that wait, by the namespaces that ask for them.

import { beforeEach, expect, it } from "vitest";
import { FairWaiting } from "../../../../operator/issuers/fair-waiting.ts";

interface Named {
  readonly name: string;
  readonly projects: Set<string>;
}

const named = (name: string, ...projects: readonly string[]): Named => ({ name, projects: new Set(projects) });

let waiting: FairWaiting<Named>;

beforeEach(() => {
  waiting = new FairWaiting(2);
});

/** Names in the order in which they are taken, each of which then stays under way. */
function takenBeside(underWay: readonly Named[] = []): readonly string[] {
  const all = [...underWay];
  for (let next = waiting.take(all); next !== undefined; next = waiting.take(all)) all.push(next);
  return all.slice(underWay.length).map(({ name }) => name);
}

it("namespaces have their turns one after the other, and no more places than they may", () => {
  for (const name of ["a", "b", "c"]) waiting.add(named(name, "shop/web"));
  for (const name of ["x", "y"]) waiting.add(named(name, "bank/web"));
  expect(takenBeside()).toEqual(["a", "x", "b", "y"]);
  expect(takenBeside()).toEqual(["c"]);
});

it("what two namespaces ask for comes with the turn of either, and once", () => {
  const [first, second] = [named("first", "shop/web"), named("second", "shop/web")];
  waiting.add(named("a", "shop/web"));
  waiting.add(named("shared", "shop/blog", "bank/web"));
  expect(takenBeside([first, second])).toEqual(["shared"]);
  expect(takenBeside([])).toEqual(["a"]);
});

it("what nobody asks for any more is not taken", () => {
  const gone = named("gone", "shop/web");
  waiting.add(gone);
  waiting.add(named("a", "shop/web"));
  gone.projects.clear();
  waiting.remove(gone, "shop/web");
  expect(takenBeside()).toEqual(["a"]);
});
