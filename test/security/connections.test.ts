// Connections that cost their owner nothing and the service memory: slow, silent, idle, and deaf
// ones, by the thousand.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AttackedReplica, limits, startAttacked, startImpatient } from "../support/fleet/attacked-replica.ts";
import { send } from "../support/http/http-client.ts";
import { apikey, project, withKey, withRootKey } from "../support/http/projects.ts";
import { eventually } from "../support/time/eventually.ts";
import { countForTier } from "../support/time/test-tier.ts";
import { type Crowd, type CrowdOptions, openCrowd } from "./many-sockets.ts";

const loud = project("loud", withKey("loud"), withRootKey("doc"), withRootKey("big"), withRootKey("small"));
const head = (method: string, path: string) => `${method} /default/loud${path} HTTP/1.1\r\nHost: a\r\n`;
const put = `${head("PUT", "/json/doc/a")}Authorization: ${apikey("loud")}\r\n`;

const get = (path: string) => `${head("GET", path)}\r\n`;

/** Each piece is too small to matter; of some, the client has no credential. */
const small: Readonly<Record<string, CrowdOptions>> = {
  "send most of a small body, in one piece": { hello: `${put}Content-Length: 100000\r\n\r\n"${"x".repeat(65_000)}` },
  "send most of a small body, in chunks of a byte": {
    hello: `${put}Transfer-Encoding: chunked\r\n\r\n1\r\n"\r\n${"1\r\nx\r\n".repeat(1_000)}`,
  },
  "ask for a value of 60 kB eight times and read nothing": { hello: get("/json/small").repeat(8), deaf: true },
  "ask for it a hundred times and read nothing": { hello: get("/json/small").repeat(100), deaf: true },
  "ask, read nothing, and send a body": {
    hello: `${get("/json/small")}${put}Content-Length: 100000\r\n\r\n"${"x".repeat(65_000)}`.repeat(2),
    deaf: true,
  },
  "send most of a head": { hello: `${head("GET", "/json/doc")}X: ${"x".repeat(31_000)}` },
};

let attacked: AttackedReplica;

beforeAll(async () => {
  attacked = await startAttacked(loud);
});

afterAll(() => attacked.stop());

/** Says something to each connection every second, until the server has ended all of them. */
async function dribble(crowd: Crowd, words: string): Promise<void> {
  const timer = setInterval(() => crowd.each((socket) => socket.write(words)), 1_000);
  try {
    await gone(crowd);
  } finally {
    clearInterval(timer);
    crowd.leave();
  }
}

function gone(crowd: Crowd): Promise<void> {
  return eventually(
    () => {
      if (crowd.open() > 0) throw new Error(`${crowd.open()} connections are still open`);
    },
    { withinMs: 120_000, everyMs: 250 },
  );
}

describe("a replica lives, keeps its memory and answers the other tenant under", () => {
  it("1,000 clients that ask for four mebibytes each and read nothing", async () => {
    const as = apikey("loud");
    const big = await attacked.send("loud", "/json/big", { method: "PUT", body: { a: "x".repeat(1_000_000) }, as });
    expect(big.status).toBe(200);
    // Alone for a while: then it may have most.
    await sleep(1_100);
    await attacked.survives(async () => {
      const { origin } = attacked.replica;
      const deaf = await openCrowd(origin, 1_000, { hello: `${head("GET", "/json/big")}\r\n`.repeat(4), deaf: true });
      await sleep(4_000);
      deaf.leave();
    });
  });

  it("400 clients that send most of a mebibyte each and then wait", async () => {
    await attacked.survives(async () => {
      const { origin } = attacked.replica;
      const hello = `${put}Content-Length: 1000000\r\n\r\n"${"x".repeat(999_000)}`;
      const waiting = await openCrowd(origin, 400, { hello });
      // What is beyond the budget is refused before it is there.
      await eventually(() => expect(waiting.statusLines()["HTTP/1.1 503 Service Unavailable"]).toBeGreaterThan(300));
      // Half of the budget is other projects': theirs are taken meanwhile.
      const body = { a: "x".repeat(200_000) };
      const other = await attacked.send("quiet", "/json/doc/a", { method: "PUT", body, as: apikey("quiet") });
      expect(other.status).toBe(201);
      waiting.leave();
    });
    expect((await attacked.send("quiet", "/json/doc/a", { method: "DELETE", as: apikey("quiet") })).status).toBe(200);
  });

  it.each([
    ...Object.entries(small).map(([what, options]) => [what, [options]] as const),
    ["do any of these", Object.values(small)] as const,
  ])("thousands of clients that %s", async (_what, crowds) => {
    const value = { method: "PUT", body: { a: "x".repeat(60_000) }, as: apikey("loud") } as const;
    expect((await attacked.send("loud", "/json/small", value)).status).toBeLessThan(300);
    const size = Math.ceil(countForTier(1_000, 14_000) / crowds.length);
    await attacked.survives(async () => {
      const open: Crowd[] = [];
      for (const options of crowds) open.push(await openCrowd(attacked.replica.origin, size, options));
      await sleep(2_000);
      // The project that is attacked is served as well.
      expect((await attacked.send("loud", "/json/doc")).status).toBe(200);
      for (const crowd of open) crowd.leave();
    });
  });

  it("200 clients without a credential that ask 1,400 times at once and read nothing", async () => {
    await attacked.survives(async () => {
      const hello = get("/json/doc").repeat(1_400);
      const crowd = await openCrowd(attacked.replica.origin, 200, { hello, deaf: true });
      await sleep(2_000);
      crowd.leave();
    });
  });

  it("more connections than its memory allows: for a new one, that which has been silent for longest is closed", async () => {
    const { origin, adminUrl } = attacked.replica;
    const asked = await openCrowd(origin, 10, { hello: get("/json/doc") });
    await eventually(() => expect(asked.statusLines()).toEqual({ "HTTP/1.1 200 OK": 10 }));
    const silent = await openCrowd(origin, limits.connections - 10);
    const more = await openCrowd(origin, 300, { hello: get("/json/doc") });
    await eventually(() => expect(more.statusLines()).toEqual({ "HTTP/1.1 200 OK": 300 }));
    await eventually(() => expect(silent.open()).toBeLessThanOrEqual(limits.connections - 310));
    expect([asked.open(), more.open()]).toEqual([10, 300]);
    expect((await send(adminUrl, "/metrics")).text).toMatch(
      /^jsonplane_connections_closed_total\{reason="too_many"\} \d/m,
    );
    for (const crowd of [asked, silent, more]) crowd.leave();
    await attacked.survives(() => sleep(500));
  });

  it("2,000 clients that connect while it is busy with something else: all are answered once it goes on", async () => {
    const { replica } = attacked;
    // Alone for a while: next to another project, a thousand may wait and the others are refused.
    await sleep(1_100);
    replica.signal("SIGSTOP");
    const crowd = await openCrowd(replica.origin, 2_000, { hello: `${head("GET", "/json/doc")}\r\n` }).finally(() =>
      replica.signal("SIGCONT"),
    );
    await eventually(() => expect(crowd.statusLines()).toEqual({ "HTTP/1.1 200 OK": 2_000 }));
    crowd.leave();
  });

  it("crowds of hundreds that come, ask, and go", async () => {
    const size = countForTier(300, 1_000);
    await attacked.survives(() =>
      attacked.keepsNothingOf(async () => {
        const crowd = await openCrowd(attacked.replica.origin, size, { hello: `${head("GET", "/json/doc")}\r\n` });
        await eventually(() => expect(crowd.statusLines()).toEqual({ "HTTP/1.1 200 OK": size }));
        crowd.leave();
      }),
    );
  });
});

describe("a replica ends by itself", () => {
  let impatient: AttackedReplica;
  beforeAll(async () => {
    impatient = await startImpatient(loud);
  });
  afterAll(() => impatient.stop());

  it("slow heads, slow bodies and idle connections by the hundred, lives, keeps its memory and answers the other tenant", async () => {
    const some = 250;
    await impatient.survives(async () => {
      const { origin } = impatient.replica;
      const heads = await openCrowd(origin, 2 * some, { hello: head("GET", "/json/doc") });
      const bodies = await openCrowd(origin, 2 * some, { hello: `${put}Content-Length: 100000\r\n\r\n"` });
      const silent = await openCrowd(origin, 5 * some);
      const idle = await openCrowd(origin, 5 * some, { hello: `${head("GET", "/json/doc")}\r\n` });
      await Promise.all([dribble(heads, "X-A: b\r\n"), dribble(bodies, "a"), gone(silent), gone(idle)]);
      const timeouts = (count: number) => ({ "HTTP/1.1 408 Request Timeout": count });
      expect(heads.statusLines()).toEqual(timeouts(2 * some));
      expect(bodies.statusLines()).toEqual(timeouts(2 * some));
      expect(silent.statusLines()).toEqual(timeouts(5 * some));
      expect(idle.statusLines()).toEqual({ "HTTP/1.1 200 OK": 5 * some });
    });
    expect((await impatient.send("loud", "/json/doc")).text).toBe("{}");
  });
});
