// Following changes against a server that answers as the test says: from where it goes on, when it
// reads again, and when it stops.

import { describe, expect, it } from "vitest";
import { type Change, followChanges, type ReadResult } from "../../../../../pages/console/live/follow-changes.ts";

type Step = { readonly status: number } | { readonly events: string } | "unreachable";

/** What was asked, waited for and shown, until the server has nothing more to answer. */
async function followed(steps: readonly Step[], readings: readonly (ReadResult | undefined)[] = [], start?: string) {
  const log: string[] = [];
  const ending = new AbortController();
  const [answers, reads] = [[...steps], [...readings]];
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await followChanges(
    {
      url: "api/books",
      async send(_, { headers }) {
        const step = answers.shift();
        if (step === undefined) {
          ending.abort();
          throw new TypeError("aborted");
        }
        log.push(`stream ${new Headers(headers).get("Last-Event-ID")}`);
        if (step === "unreachable") throw new TypeError("fetch failed");
        if ("status" in step) return new Response("{}", { status: step.status });
        return new Response(step.events, { headers: { "Content-Type": "text/event-stream" } });
      },
      async refetch() {
        log.push("read");
        await settle();
        return reads.length === 0 ? { position: "p9" } : reads.shift();
      },
      isCurrent: ({ etag }: Change) => etag === "mine",
      onState: (state) => log.push(state),
      onReset: () => log.push("reset"),
      async pause(milliseconds) {
        log.push(`pause ${milliseconds}`);
        await settle();
      },
      signal: ending.signal,
    },
    start,
  );
  return log;
}

const put = (id: string, etag: string) => `event: put\nid: ${id}\ndata: {"id":"1","etag":"${etag}"}\n\n`;

const asked = (pauseMs: number) => `retry: ${pauseMs}\n\n`;

describe("following changes", () => {
  it("goes on behind the newest event, after the pause that the server asks for, and reads others' changes", async () => {
    const log = await followed(
      [{ events: `${asked(1500)}${put("p2", "mine")}` }, { events: put("p3", "theirs") }],
      [],
      "p1",
    );
    expect(log.slice(0, 5)).toEqual(["stream p1", "live", "reconnecting", "pause 1500", "stream p2"]);
    expect(log.filter((each) => each === "read")).toHaveLength(1);
  });

  it("waits longer with each failure, and keeps its position", async () => {
    const log = await followed(["unreachable", { status: 503 }, { status: 429 }, { events: "" }], [], "p1");
    expect(log.filter((each) => /pause|stream|live/.test(each))).toEqual([
      ...["stream p1", "pause 6000", "stream p1", "pause 12000", "stream p1", "pause 24000", "stream p1", "live"],
      "pause 3000",
    ]);
  });

  it("reads at once after a reset, and again once it follows from now on", async () => {
    const log = await followed(
      [{ events: 'event: reset\nid:\ndata: {"reason":"expired"}\n\n' }, { events: "" }],
      [],
      "p1",
    );
    const beforeFollowing = ["stream p1", "live", "reset", "read", "reconnecting", "pause 3000"];
    expect(log.slice(0, 9)).toEqual([...beforeFollowing, "stream null", "live", "read"]);
  });

  it.each([400, 401, 403, 404, 406])(
    "reads what %i is about, and stops where that can't be followed",
    async (status) => {
      expect(await followed([{ status }], [{ position: undefined }], "p1")).toEqual(["stream p1", "read", "off"]);
    },
  );

  it("begins with reading where nothing is known, and reads until it gets an answer", async () => {
    const log = await followed([{ events: "" }], [undefined, { position: "p5" }]);
    expect(log.slice(0, 6)).toEqual(["read", "reconnecting", "pause 6000", "read", "stream p5", "live"]);
  });
});
