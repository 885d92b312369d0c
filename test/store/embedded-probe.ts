// A process that tries one thing with an embedded store that its parent can't try in its own
// process, and prints how it went as one JSON line: `node embedded-probe.ts
// <open|open-as-nobody|fill> <directory>`.

import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { idOf, objectOf } from "../support/store/stored-objects.ts";

const nobody = 65_534;
const collection = { project: { namespace: "probe", name: "shop" }, resource: "books" };
const [what = "", directory = ""] = process.argv.slice(2);

if (what === "open-as-nobody") process.seteuid?.(nobody);
console.log(JSON.stringify(await (what === "fill" ? fill() : open())));

async function open(): Promise<unknown> {
  try {
    const store = await createEmbeddedStore({ directory, clock: systemClock });
    await store.close();
    return { opened: true };
  } catch (error) {
    return { refused: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
}

/** Writes until the disk (here: the limit of a file's size) is full, then reads and removes. */
async function fill(): Promise<unknown> {
  const store = await createEmbeddedStore({ directory, clock: systemClock });
  const text = JSON.stringify("x".repeat(64 * 1024));
  let written = 0;
  let failure: unknown;
  while (failure === undefined && written < 10_000) {
    try {
      await store.create(collection, objectOf(written, { text }), 1e9);
      written += 1;
    } catch (error) {
      failure = error;
    }
  }
  const reachableAfterFailure = store.health().reachable;
  const count = await store.count(collection, {});
  const last = await store.read(collection, idOf(written - 1), {});
  await store.close();
  const { name, message } = failure instanceof Error ? failure : new Error("The disk is never full");
  return {
    written,
    count,
    lastIsWhole: last?.text === objectOf(written - 1, { text }).text,
    name,
    message,
    reachableAfterFailure,
  };
}
