import { expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import { createMemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import { createDescriptions } from "../../../../dataplane/openapi/descriptions.ts";
import { project, withResource } from "../../../support/http/projects.ts";

it("a document is encoded and hashed once for each address, in a turn of its project", async () => {
  const all = new Set<unknown>();
  const limiter = {
    async runFairly<T>(work: () => T): Promise<T> {
      await Promise.resolve();
      const made = work();
      all.add(made);
      return made;
    },
  };
  const descriptions = createDescriptions();
  const memory = createMemoryDirectory(systemClock);
  memory.put(project("shop", withResource("books")));
  const [shop] = memory.directory.loaded();
  if (shop === undefined) throw new Error("It is live at once");
  const of = (base: string) => descriptions.of(shop, base, limiter);
  const [first, atOnce, other] = await Promise.all([of("http://a.test"), of("http://a.test"), of("http://b.test")]);
  expect([atOnce, await of("http://a.test")]).toEqual([first, first]);
  expect(other.tag).not.toBe(first.tag);
  expect(all.size).toBe(2);
});
