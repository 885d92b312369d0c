// What a stream is: its head, its events, their order, filters, and what it refuses.

import { type Collection, variations, type Written } from "../collection.ts";
import { differ, same } from "../differs.ts";
import type { Rule } from "./rule.ts";

const listParameters = ["_limit=1", "_offset=0", "_cursor=", "_sort=id", "_count=true", "_etags=true"];

export const streamRules: readonly Rule[] = [
  {
    says: "a stream is text/event-stream that no cache keeps, no proxy changes and nginx passes on",
    async check(collection) {
      const { response } = await collection.follow();
      same("its status", response.status, 200);
      same("Content-Type", response.headers.get("content-type")?.split(";")[0], "text/event-stream");
      same("Cache-Control", response.headers.get("cache-control"), "no-store, no-transform");
      same("X-Accel-Buffering", response.headers.get("x-accel-buffering"), "no");
    },
  },
  {
    says: "a created object is a put with resource, id, etag and the object as a read has it",
    async check(collection) {
      const stream = await collection.follow();
      const created = await collection.create();
      const { data } = await stream.put(created);
      const read = await collection.ask(`/${created.id}`);
      same("its data", data, {
        ...{ resource: collection.resource, id: created.id },
        ...{ etag: read.headers.get("etag"), object: await read.json() },
      });
    },
  },
  {
    says: "a changed object is a put, and a deleted one a delete with resource and id",
    async check(collection) {
      const stream = await collection.follow();
      const created = await collection.create();
      await stream.put(await collection.change(created, 1));
      await collection.remove(created);
      const { data } = await stream.deleted(created);
      same("its data", data, { resource: collection.resource, id: created.id });
    },
  },
  {
    says: "a write that changes nothing is not told",
    async check(collection) {
      const created = await collection.create();
      const stream = await collection.follow();
      await collection.change(created, 0);
      await stream.put(await collection.create());
      same("what was told of the object", stream.of(created), []);
    },
  },
  {
    says: "changes of one object come in order, and the last one always",
    async check(collection) {
      const stream = await collection.follow();
      await Promise.all([1, 2, 3].map(async () => await inOrder(collection, stream)));
    },
  },
  {
    says: "a stream of one object begins with it, and tells of no other",
    async check(collection) {
      const created = await collection.create();
      const stream = await collection.follow(`/${created.id}`);
      await stream.put(created);
      const other = await collection.create();
      await collection.remove(created);
      await stream.deleted(created);
      same("what was told of another object", stream.of(other), []);
      const { response } = await collection.follow(`/${created.id}`);
      same("the status for an object that is gone", response.status, 404);
    },
  },
  {
    says: "a filter finds objects as in lists, and one that stops matching is told as deleted",
    async check(collection) {
      const stream = await collection.follow(`?${collection.filter(1)}`);
      const other = await collection.create(2);
      const created = await collection.create(1);
      await stream.put(created);
      await collection.change(created, 2);
      await stream.deleted(created);
      await stream.put(await collection.change(created, 1));
      const puts = stream.of(other).filter(({ name }) => name === "put");
      same("puts of an object that doesn't match", puts, []);
    },
  },
  {
    says: "_fields shows only these fields, and the etag of the whole object",
    async check(collection) {
      const stream = await collection.follow(`?_fields=${encodeURIComponent(collection.field)}`);
      const { data } = await stream.put(await collection.create());
      const shown = Object.keys(data["object"] as object).sort();
      same("the fields of the object", shown, ["id", collection.field].sort());
    },
  },
  {
    says: "parameters of lists are refused with 400 invalid_parameter",
    async check(collection) {
      for (const parameter of listParameters) {
        const { response } = await collection.follow(`?${parameter}`);
        const code = response.status === 400 ? ((await response.json()) as { code?: unknown }).code : undefined;
        same(`the answer to ${parameter}`, [response.status, code], [400, "invalid_parameter"]);
      }
    },
  },
];

/** Asked where another collection is named that keeps no log. */
export function unloggedRule(url: string): Rule {
  return {
    says: "a collection without a log of changes answers 406, in both forms",
    async check(collection) {
      const stream = await collection.askAt(url, { Accept: "text/event-stream" });
      const json = await collection.askAt(`${url}?_position=`, {});
      await Promise.all([stream.body?.cancel(), json.body?.cancel()]);
      same("its status", [stream.status, json.status], [406, 406]);
    },
  };
}

/** Checked last: over all that was sent. */
export const eventsRule: Rule = {
  says: "put, delete and bookmark have an id, a reset has an empty one, and there are no unknown events",
  async check({ followers }) {
    for (const { name, id, data } of followers.flatMap(({ events }) => events)) {
      if (["put", "delete", "bookmark"].includes(name)) {
        if (!id) differ(`a ${name} has no id`);
      } else if (name === "reset") same("the id of a reset", id, "");
      else if (name === "reauthenticate") same("the id of a reauthenticate", id, undefined);
      else differ(`there is an event ${JSON.stringify(name)}`);
      if (name === "bookmark") same("the data of a bookmark", data, {});
    }
  },
};

async function inOrder(collection: Collection, stream: Awaited<ReturnType<Collection["follow"]>>): Promise<void> {
  const writes: Written[] = [await collection.create()];
  const [{ id } = { id: "" }] = writes;
  for (let number = 1; number <= variations; number += 1) writes.push(await collection.change({ id }, number));
  await collection.remove({ id });
  await stream.deleted({ id });
  const etags = writes.map(({ etag }) => etag);
  const told = stream
    .of({ id })
    .map(({ name, data }) => (name === "put" ? etags.indexOf(String(data["etag"])) : etags.length));
  if (told.includes(-1)) differ("a put has an etag that no write had");
  same(
    "the order of what was told",
    told,
    told.toSorted((a, b) => a - b),
  );
}
