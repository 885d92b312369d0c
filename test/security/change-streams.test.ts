// As many clients as may follow the changes of one project ask for as much as they can get, all at
// once: a replica over real Redis JSON reads it for some after the other.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AttackedReplica, limits, startAttacked } from "../support/fleet/attacked-replica.ts";
import { apikey, project, withKey, withLimits, withResource, withRootKey } from "../support/http/projects.ts";
import { eventually } from "../support/time/eventually.ts";
import { type Crowd, openCrowd } from "./many-sockets.ts";

const changes = { retentionSeconds: 3_600, maxEntries: 10_000 };
const callers = ["ann", "bea", "cho", "dan"];
const [first = ""] = callers;
const as = apikey(first);
const mebibyte = 1024 * 1024;
const loud = project(
  "loud",
  withLimits({ maxBodyBytes: 4 * mebibyte, maxDocumentBytes: 4 * mebibyte }),
  ...callers.map((name) => withKey(name)),
  withResource("books", { changes, scope: { read: "All" } }),
  withRootKey("large", { changes }),
);
/** Those of a replica are half of its connections, and those of a project half of them. */
const clients = Math.floor(limits.connections / 4);

let attacked: AttackedReplica;
/** Positions behind which there is more than a stream reads at once. */
const positions: string[] = [];

beforeAll(async () => {
  attacked = await startAttacked(loud);
  for (let count = 0; count < 200; count += 1) {
    const { headers } = await attacked.send("loud", "/api/books?_limit=1", { as });
    positions.push(encodeURIComponent(String(headers["changes-position"])));
    await attacked.send("loud", "/api/books", { method: "POST", body: { text: "x".repeat(50_000) }, as });
  }
  const body = { text: "x".repeat(3.9 * mebibyte) };
  expect((await attacked.send("loud", "/json/large/one", { method: "PUT", body, as })).status).toBe(201);
});
afterAll(() => attacked.stop());

/** Each of them sends what `lines` says: a path below the project, and further header lines. */
async function ask(lines: (index: number) => readonly [path: string, ...headers: readonly string[]]): Promise<Crowd> {
  const crowd = await openCrowd(attacked.replica.origin, clients);
  crowd.each((socket, index) => {
    const [path, ...headers] = lines(index);
    const key = `Authorization: ${apikey(callers[index % callers.length] ?? first)}`;
    socket.write([`GET /default/loud${path} HTTP/1.1`, "Host: a", key, ...headers, "", ""].join("\r\n"));
  });
  return crowd;
}

/** Until each has an answer, or has lost its connection. */
async function answered(crowd: Crowd): Promise<void> {
  const total = (): number => Object.values(crowd.statusLines()).reduce((sum, count) => sum + count, 0);
  const done = () => expect(total() + crowd.opened - crowd.open()).toBeGreaterThanOrEqual(clients);
  await eventually(done, { withinMs: 150_000 });
  crowd.leave();
}

const behind = (index: number) => `/api/books?_position=${positions[index % 150]}`;

describe("clients that follow changes", () => {
  it.each<[string, Parameters<typeof ask>[0]]>([
    ["from many old positions, as JSON", (index) => [behind(index)]],
    ["of a large value", () => ["/json/large", "Accept: text/event-stream"]],
  ])("%s leave the other tenant its replica", async (_, lines) => {
    await attacked.survives(async () => answered(await ask(lines)));
  });

  it("and wait for one large change leave the other tenant its replica", async () => {
    // The replica closes connections that were idle for long, perhaps at this moment.
    const { headers } = await eventually(() => attacked.send("loud", "/api/books?_limit=1", { as }));
    const path = `/api/books?_position=${encodeURIComponent(String(headers["changes-position"]))}`;
    await attacked.survives(async () => {
      const crowd = await ask(() => [path, "Prefer: wait=30"]);
      // Its response may have no room beside all those that the same project's clients don't read.
      await attacked
        .send("loud", "/api/books", { method: "POST", body: { text: "x".repeat(mebibyte) }, as })
        .catch(() => undefined);
      await answered(crowd);
    });
  });
});
