// Connections that cost their owner nothing and the service memory: slow, silent, idle, and deaf ones, by the thousand.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AttackedReplica, startAttacked, startImpatient } from "../support/fleet/attacked-replica.ts";
import { apikey, project, withKey, withRootKey } from "../support/http/projects.ts";
import { eventually } from "../support/time/eventually.ts";
import { countForTier } from "../support/time/test-tier.ts";
import { type Crowd, openCrowd } from "./many-sockets.ts";

const loud = project("loud", withKey("loud"), withRootKey("doc"), withRootKey("big"));
const head = (method: string, path: string) => `${method} /default/loud${path} HTTP/1.1\r\nHost: a\r\n`;
const put = `${head("PUT", "/json/doc/a")}Authorization: ${apikey("loud")}\r\n`;

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

  it("15,500 connections: 15,000 are held, the others are closed at once", async () => {
    const many = await openCrowd(attacked.replica.origin, 14_900);
    const more = await openCrowd(attacked.replica.origin, 600);
    await eventually(() => expect(many.open() + more.open()).toBeLessThanOrEqual(15_000));
    expect(many.open()).toBe(14_900);
    more.leave();
    many.leave();
    // A new connection is closed as well until the replica has seen these end.
    await eventually(async () => expect((await attacked.send("quiet", "/json/doc")).status).toBe(200));
    await attacked.survives(() => sleep(500));
  });

  it("2,000 clients that connect while it is busy with something else: all are answered once it goes on", async () => {
    const { replica } = attacked;
    // Alone for a while: beside another project, a thousand may wait and the others are refused.
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

  it("slow heads, slow bodies and idle connections by the thousand, lives, keeps its memory and answers the other tenant", async () => {
    const thousand = countForTier(250, 1_000);
    await impatient.survives(async () => {
      const { origin } = impatient.replica;
      const heads = await openCrowd(origin, 2 * thousand, { hello: head("GET", "/json/doc") });
      const bodies = await openCrowd(origin, 2 * thousand, { hello: `${put}Content-Length: 100000\r\n\r\n"` });
      const silent = await openCrowd(origin, 5 * thousand);
      const idle = await openCrowd(origin, 5 * thousand, { hello: `${head("GET", "/json/doc")}\r\n` });
      await Promise.all([dribble(heads, "X-A: b\r\n"), dribble(bodies, "a"), gone(silent), gone(idle)]);
      const timeouts = (count: number) => ({ "HTTP/1.1 408 Request Timeout": count });
      expect(heads.statusLines()).toEqual(timeouts(2 * thousand));
      expect(bodies.statusLines()).toEqual(timeouts(2 * thousand));
      expect(silent.statusLines()).toEqual(timeouts(5 * thousand));
      expect(idle.statusLines()).toEqual({ "HTTP/1.1 200 OK": 5 * thousand });
    });
    expect((await impatient.send("loud", "/json/doc")).text).toBe("{}");
  });
});
