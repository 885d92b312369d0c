import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { createMemoryBudget } from "../../../../dataplane/admission/memory-budgets.ts";
import { createUnreadResponses } from "../../../../dataplane/http/unread-responses.ts";

const project = {};

function response() {
  const made = Object.assign(new EventEmitter(), { destroyed: false, destroy: () => (made.destroyed = true) });
  return Object.assign(made as unknown as ServerResponse & typeof made, { read: () => made.emit("close") });
}

it("has room again once a stream's first bytes were read, once", () => {
  const { unread } = setup(100_000);
  const [stream, next, third] = [response(), response(), response()];
  unread.wait(project, stream, 40_000);
  stream.emit("drain");
  unread.wait(project, next, 40_000);
  stream.read();
  unread.wait(project, third, 40_000);
  expect([next.destroyed, third.destroyed]).toEqual([false, true]);
});

function setup(limit: number) {
  const closed: string[] = [];
  return { closed, unread: createUnreadResponses(createMemoryBudget(limit), () => closed.push("unread")) };
}

it("closes the connection of what its client does not read once there is no room", () => {
  const { closed, unread } = setup(100_000);
  const [waiting, late, next] = [response(), response(), response()];
  unread.wait(project, waiting, 40_000);
  unread.wait(project, late, 20_000);
  expect([waiting.destroyed, late.destroyed]).toEqual([false, true]);
  expect(closed).toHaveLength(1);
  waiting.read();
  unread.wait(project, next, 40_000);
  expect(next.destroyed).toBe(false);
});

it("refuses large reads while what waits leaves no room, by their bytes of UTF-8, and never small ones", () => {
  const { unread } = setup(250_000);
  const waiting = response();
  unread.wait(project, waiting, 50_000);
  const euros = "€".repeat(30_000);
  expect(() => unread.requireRoom(project, euros)).toThrow(expect.objectContaining({ code: "query_busy" }));
  unread.requireRoom(project, "x".repeat(30_000));
  waiting.read();
  unread.requireRoom(project, euros);
});
