// What a project is answered while the clients of two others have all their large objects sorted:
// Redis is one thread, and a page that it reads at once would make it stand still for everybody.

import { beforeAll, expect, it } from "vitest";
import { list, make, outcome, type Sender } from "../support/http/api-calls.ts";
import { send } from "../support/http/http-client.ts";
import { apikey, project, withKey, withLimits, withResource } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const anyone = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;
const schema = { type: "object", properties: { n: { type: "integer" }, text: { type: "string" } } } as const;
const open = withResource("things", { schema, access: anyone, indexes: [] });
/** The sorted page keeps 16 MiB at most. */
const large = withLimits({ maxBodyBytes: 2 << 20 });
const projects = [
  project("quiet", open, withKey("writer")),
  project("loud", open, large),
  project("louder", open, large),
];
const clientsOfEach = 20;
const megabytes = 5;

/** What a replica may answer that has more to do than it takes on; nothing has happened then. */
const overload = ["project_busy", "query_busy"];

describeServed("while 40 clients of two projects sort large objects by a field without an index", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(projects);
    for (const name of ["loud", "louder"]) {
      for (let n = 0; n < megabytes; n += 1) {
        await make(sender(name), "things", { n, text: "x".repeat(1_000_000) });
      }
    }
  });
  const sender = (name: string): Sender => ({
    send: (path, sent) => send(served.origin, `/${served.namespace}/${name}${path}`, sent),
  });

  it("a third project is served, or told that the replica is busy, and never that the store is away", async () => {
    const quiet = sender("quiet");
    const { id } = await make(quiet, "things", { n: 1 }, apikey("writer"));
    let pending = 2 * clientsOfEach;
    const sorting = ["loud", "louder"].flatMap((name) =>
      Array.from({ length: clientsOfEach }, async () => {
        const reply = await sender(name).send("/api/things?_sort=-n&_limit=1");
        pending -= 1;
        return reply;
      }),
    );
    const seen: (readonly [number, string | undefined])[] = [];
    while (pending > 0) {
      for (const [path, sent] of [
        [`/api/things/${id}`, {}],
        [`/api/things/${id}`, { method: "PUT", body: { n: seen.length } }],
        ["/api/things?_sort=n", {}],
        ["/api/things", { method: "POST", body: { n: 2 } }],
      ] as const) {
        seen.push(outcome(await quiet.send(path, { ...sent, as: apikey("writer") })));
      }
    }
    const refused = (replies: typeof seen) => replies.filter(([status]) => status >= 300);
    for (const [status, code] of refused(seen))
      expect([status, overload]).toEqual([503, expect.arrayContaining([code])]);
    expect(refused(seen).length).toBeLessThan(seen.length);
    const replies = (await Promise.all(sorting)).map(outcome);
    for (const [status, code] of refused(replies)) {
      expect([status, overload]).toEqual([503, expect.arrayContaining([code])]);
    }
    expect(refused(replies).length).toBeLessThan(replies.length);
    // All is well afterwards, and what was confirmed is there.
    const created = seen.filter(([status]) => status === 201).length;
    expect((await list(quiet, "things", apikey("writer"))).count).toBe(created + 1);
  });
});
