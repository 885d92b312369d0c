import { expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import { createMemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import { createDescriptions } from "../../../../dataplane/openapi/descriptions.ts";
import { project, withResource } from "../../../support/http/projects.ts";

it("a document is encoded and hashed once for each address, in a turn of its project", async () => {
  let count = 0;
  const limiter = {
    inTurn<T>(work: () => T): T {
      count += 1;
      return work();
    },
  };
  const descriptions = createDescriptions();
  const memory = createMemoryDirectory(systemClock);
  memory.put(project("shop", withResource("books")));
  const [shop] = memory.directory.loaded();
  if (shop === undefined) throw new Error("It is live at once");
  const of = (base: string) => descriptions.of(shop, base, limiter);
  const [first, again, other] = [await of("http://a.test"), await of("http://a.test"), await of("http://b.test")];
  expect(again).toBe(first);
  expect(other.tag).not.toBe(first.tag);
  expect(count).toBe(2);
});
