// A process that builds indexes of a collection in Redis and writes to it meanwhile, until it is
// killed: `node redis-builder.ts <url> <collection as JSON> <first number of its objects> <how many
// objects are there>`. It prints a line per step built.

import { writeSync } from "node:fs";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import { openRedisStore } from "../redis/open-store.ts";
import { writeBeside } from "./write-beside.ts";

const [url = "", collection = "", first = "0", existing = "1"] = process.argv.slice(2);
const ref = JSON.parse(collection) as CollectionRef;
const store = await openRedisStore({ url });
const beside = { first: Number(first), existing: Number(existing), isOver: () => false };
await Promise.all([build(), writeBeside(store, ref, beside)]);

async function build(): Promise<void> {
  for (;;) writeSync(1, `${await store.buildIndexes(ref)}\n`);
}
