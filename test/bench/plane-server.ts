// The data plane as it runs in production, access log and metrics on, over Redis JSON, with two projects in memory. Prints
// where it listens and what a client needs when it is ready.

import { createWriteStream } from "node:fs";
import { systemClock } from "../../core/clock.ts";
import { hashPassword } from "../../core/password/hash-password.ts";
import { startDataPlane } from "../../dataplane/app.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createRedisStore } from "../../dataplane/store/redis/redis-store.ts";
import { changed, keyOf, project, withKey, withResource, withRootKey, withUser } from "../support/projects.ts";
import { bookIndexes, bookSchema } from "./subjects.ts";

const [redisUrl = "", logFile = "/dev/null"] = process.argv.slice(2);
/** growth.ts goes past the default. */
const maxObjects = 10_000_000;
const cheap = project(
  "bench",
  withKey("admin", { role: "Administrators" }),
  withKey("owner"),
  withUser("ann"),
  withResource("books", { schema: bookSchema, indexes: bookIndexes, scope: { read: "All" }, maxObjects }),
  withResource("notes", { schema: bookSchema, indexes: ["title"] }),
  withRootKey("kv", { initialValue: '{"theme":{"colour":"#334455"},"list":[]}' }),
);
// Builders hash cheaply; a login is measured with what production uses.
const ann = { ...cheap.users.get("ann"), passwordHash: await hashPassword("bench") } as never;
const parts = changed(cheap, (made) => ({ ...made, users: new Map([["ann", ann]]) }));

const live = createMemoryDirectory(systemClock);
const neighbour = project(
  "neighbour",
  withKey("neighbour", { role: "Administrators" }),
  withResource("books", { schema: bookSchema, indexes: ["title"] }),
);
live.replace([parts, neighbour]);
// What a growing collection is indexed by later (growth.ts).
process.on("SIGUSR2", () => {
  const indexes = [...bookIndexes, "author"];
  live.put(changed(parts, withResource("books", { schema: bookSchema, indexes, scope: { read: "All" }, maxObjects })));
});
const log = createWriteStream(logFile, { flags: "a" });
const plane = await startDataPlane({
  directory: live.directory,
  store: (observe) => createRedisStore({ url: redisUrl, clock: systemClock, observe }),
  host: "127.0.0.1",
  port: 0,
  adminPort: 0,
  writeLog: (text) => void log.write(text),
});
const base = `${plane.url}/default/bench`;
const beside = { base: `${plane.url}/default/neighbour`, key: keyOf("neighbour") };
process.stdout.write(`${JSON.stringify({ base, admin: keyOf("admin"), owner: keyOf("owner"), beside })}\n`);
