// From where a stream begins: behind a list, behind an event, and nowhere.

import { differ, same } from "../differs.ts";
import type { Rule } from "./rule.ts";

const reasons = ["expired", "lost", "access", "deleted"];

export const positionRules: readonly Rule[] = [
  {
    says: "a list and a read of one object have a Changes-Position, and a stream begins exactly behind it",
    async check(collection) {
      const before = await collection.create();
      const positions = [await collection.position(), await collection.position(`/${before.id}`)];
      const behind = await collection.create();
      for (const position of positions) {
        const stream = await collection.follow(`?_position=${encodeURIComponent(position)}`);
        await stream.put(behind);
        same("what was told of an object from before", stream.of(before), []);
      }
    },
  },
  {
    says: "from the position of a list's last page nothing is lost that was written between its pages",
    async check(collection) {
      const ids = [(await collection.create()).id, (await collection.create()).id];
      const first = await collection.ask("?_limit=1&_cursor=");
      const { links } = (await first.json()) as { links: { next?: string } };
      const written = [await collection.change({ id: ids[0] ?? "" }, 1), await collection.create()];
      if (links.next === undefined) differ("a page of one object of several has no next page");
      const position = await collection.position(new URL(links.next).search);
      written.push(await collection.change({ id: ids[1] ?? "" }, 1));
      const stream = await collection.follow("", position);
      for (const each of written) await stream.put(each);
    },
  },
  {
    says: "a stream goes on behind the Last-Event-ID, with all that was written meanwhile",
    async check(collection) {
      const stream = await collection.follow();
      const [first, second] = [await collection.create(), await collection.create()];
      const { id: position } = await stream.put(first);
      await stream.put(second);
      stream.close();
      const changed = await collection.change(first, 1);
      await collection.remove(second);
      const third = await collection.create();
      const resumed = await collection.follow("", position);
      await Promise.all([resumed.put(changed), resumed.deleted(second), resumed.put(third)]);
      const again = resumed.of(first).filter(({ data }) => data["etag"] === first.etag);
      same("what was told again", again, []);
    },
  },
  {
    says: "a bookmark's position, and that of the last event, lose nothing",
    async check(collection) {
      const quiet = await collection.follow();
      const bookmark = await quiet.until("a bookmark", () => quiet.events.find(({ name }) => name === "bookmark"));
      quiet.close();
      const created = await collection.create();
      const { id: last } = await (await collection.follow("", bookmark.id)).put(created);
      await collection.remove(created);
      const stream = await collection.follow("", last);
      await stream.deleted(created);
      same("puts that were told again", stream.of(created).length, 1);
    },
  },
  {
    says: "the Last-Event-ID counts before _position, which a browser goes on sending",
    async check(collection) {
      const old = await collection.position();
      const created = await collection.create();
      const newer = await collection.position();
      const later = await collection.create();
      const stream = await collection.follow(`?_position=${encodeURIComponent(old)}`, newer);
      await stream.put(later);
      same("what was told from before", stream.of(created), []);
    },
  },
  {
    says: "a position that no log has is answered with 200 and a reset with an empty id, which ends the stream",
    async check(collection) {
      const stream = await collection.follow("", await collection.unknownPosition());
      same("the status", stream.response.status, 200);
      await stream.ended();
      same(
        "the events",
        stream.events.map(({ name, id }) => [name, id]),
        [["reset", ""]],
      );
      const reason = stream.events[0]?.data["reason"];
      if (!reasons.includes(String(reason))) differ(`the reason is ${JSON.stringify(reason)}`);
    },
  },
];
