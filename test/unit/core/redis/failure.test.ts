// What callers get of each failure of a command.

import { ReplyError } from "ioredis";
import { describe, expect, it } from "vitest";
import { OutcomeUnknown, StoreFull, StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { type Attempt, failureOf, isUnknownScript, RedisFault } from "../../../../core/redis/failure.ts";

const sentWrite: Attempt = { what: "create", kind: "write", sent: true };
const answer = (message: string): unknown => new ReplyError(message);

describe("a failed command", () => {
  const refusals = [
    "READONLY You can't write against a read only replica.",
    "OOM command not allowed when used memory > 'maxmemory'. script: 1, on @user_script:1.",
    "MISCONF Errors writing to the AOF file: No space left on device",
    "LOADING Redis is loading the dataset in memory",
    "MASTERDOWN Link with MASTER is down",
    "CLUSTERDOWN The cluster is down",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "MOVED 1 127.0.0.1:7000",
    "ASK 1 127.0.0.1:7000",
    "BUSY Redis is busy running a script",
    "NOREPLICAS Not enough good replicas to write.",
    "NOSCRIPT No matching script.",
    "NOAUTH Authentication required.",
    "NOPERM User al has no permissions to run the 'evalsha' command",
  ];
  for (const message of refusals) {
    it(`was without effect when Redis answered ${message.split(" ")[0]}`, () => {
      const failure = failureOf(answer(message), sentWrite);
      expect(failure).toBeInstanceOf(StoreUnavailable);
      expect(failure.message).not.toContain("127.0.0.1");
    });
  }

  it("says that the store is full where memory is used up, and nowhere else", () => {
    const full = refusals.filter((message) => failureOf(answer(message), sentWrite) instanceof StoreFull);
    expect(full).toEqual([expect.stringMatching(/^OOM /)]);
  });

  it("is a defect when Redis answered anything else", () => {
    for (const [message, code] of [
      ["WRONGTYPE Operation against a key holding the wrong kind of value", "WRONGTYPE"],
      ["ERR wrong number of arguments for 'zadd' command", "ERR"],
      ["Existing key has wrong Redis type", "ERR"],
    ] as const) {
      const failure = failureOf(answer(message), sentWrite);
      expect(failure).toBeInstanceOf(RedisFault);
      expect(failure).toMatchObject({ code, cause: { message } });
    }
  });

  it("is unknown when it was a write that was sent and not answered, and only then", () => {
    const closed = new Error("Connection is closed.");
    expect(failureOf(closed, sentWrite)).toBeInstanceOf(OutcomeUnknown);
    expect(failureOf(closed, { ...sentWrite, sent: false })).toBeInstanceOf(StoreUnavailable);
    expect(failureOf(closed, { ...sentWrite, kind: "read" })).toBeInstanceOf(StoreUnavailable);
  });

  it("was without effect when a Cluster redirected it again and again, each time before anything was done", () => {
    const endless = (last: string): Error => new Error(`Too many Cluster redirections. Last error: ${last}`);
    for (const last of ["TRYAGAIN Multiple keys request", "MOVED 1 127.0.0.1:7000", "ASK 1 127.0.0.1:7000"]) {
      const failure = failureOf(endless(String(new ReplyError(last))), sentWrite);
      expect(failure).toBeInstanceOf(StoreUnavailable);
      expect(failure.message).not.toContain("127.0.0.1");
    }
    expect(failureOf(endless("Error: Connection is closed."), sentWrite)).toBeInstanceOf(OutcomeUnknown);
  });

  it("is worth another try when a script that reads met a key which a Cluster moves just now", () => {
    const ofRedis = answer(
      "ERR Script attempted to access a non local key in a cluster node script: 1, on @user_script:9.",
    );
    const ofValkey = answer(
      "ERR Unable to execute command 'exists' in script because undeclared keys were accessed during rehashing of the slot script: 1, on @user_script:24.",
    );
    const atLast = new Error(`Too many Cluster redirections. Last error: ${String(ofRedis)}`);
    for (const error of [ofRedis, ofValkey, atLast]) {
      expect(failureOf(error, { ...sentWrite, kind: "read" })).toBeInstanceOf(StoreUnavailable);
      expect(failureOf(error, sentWrite)).toBeInstanceOf(RedisFault);
    }
  });

  it("tells a script that Redis doesn't know", () => {
    expect(isUnknownScript(answer("NOSCRIPT No matching script."))).toBe(true);
    expect(isUnknownScript(answer("ERR NOSCRIPT"))).toBe(false);
    expect(isUnknownScript(new Error("NOSCRIPT"))).toBe(false);
  });
});
