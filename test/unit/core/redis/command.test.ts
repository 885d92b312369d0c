// What commands write to a connection, and when.

import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { CommandBatcher, ScriptCommand, TrackedCommand } from "../../../../core/redis/command.ts";
import type { Script } from "../../../../core/redis/script.ts";

const script: Script = { name: "s-1", lua: "return 1", sha: "a".repeat(40), kind: "write" };

function scriptCommand(batcher: CommandBatcher, sendSource = false): ScriptCommand {
  return new ScriptCommand({ script, keys: ["k"], args: ["é", 2] }, batcher, sendSource);
}

describe("a command", () => {
  it("is sent when its bytes are asked for, and not before", () => {
    const command = new TrackedCommand({ name: "JSON.GET", args: ["k"], keys: ["k"] }, new CommandBatcher());
    expect(command.sent).toBe(false);
    expect(command.toWritable(new PassThrough())).toBe("*2\r\n$8\r\nJSON.GET\r\n$1\r\nk\r\n");
    expect(command.sent).toBe(true);
  });

  it("goes out as PING when it was given up while it waited for a connection", async () => {
    for (const command of [
      new TrackedCommand({ name: "SET", args: ["k", "v"], keys: ["k"] }, new CommandBatcher()),
      scriptCommand(new CommandBatcher()),
    ]) {
      command.reject(new Error("Command timed out"));
      await expect(command.promise).rejects.toThrow("timed out");
      expect(command.toWritable(new PassThrough())).toBe("*1\r\n$4\r\nping\r\n");
      expect(command.sent).toBe(false);
    }
  });

  it("finds its slot by the keys it is given, whatever ioredis knows of it", () => {
    const command = new TrackedCommand(
      { name: "JSON.GET", args: ["{tag}:k"], keys: ["{tag}:k"] },
      new CommandBatcher(),
    );
    expect(command.getSlot()).toBe(8_338);
  });
});

describe("a script", () => {
  it("is sent whole first over each connection, and by its hash from then on", () => {
    const batcher = new CommandBatcher();
    const [one, other] = [new PassThrough(), new PassThrough()];
    const whole = "*6\r\n$4\r\neval\r\n$8\r\nreturn 1\r\n$1\r\n1\r\n$1\r\nk\r\n$2\r\né\r\n$1\r\n2\r\n";
    const byHash = `*6\r\n$7\r\nevalsha\r\n$40\r\n${script.sha}\r\n$1\r\n1\r\n$1\r\nk\r\n$2\r\né\r\n$1\r\n2\r\n`;
    expect(scriptCommand(batcher).toWritable(one)).toBe(whole);
    expect(scriptCommand(batcher).toWritable(one)).toBe(byHash);
    expect(scriptCommand(batcher).toWritable(other)).toBe(whole);
    expect(scriptCommand(batcher, true).toWritable(one)).toBe(whole);
  });
});

describe("commands of one turn", () => {
  it("are held back and written together", async () => {
    const batcher = new CommandBatcher();
    const socket = new PassThrough();
    for (let n = 0; n < 3; n += 1) socket.write(scriptCommand(batcher, true).toWritable(socket));
    expect(socket.writableCorked).toBe(1);
    expect(socket.readableLength).toBe(0);
    await new Promise((resume) => setImmediate(resume));
    expect(socket.writableCorked).toBe(0);
    expect(String(socket.read())).toMatch(/^(\*6\r\n\$4\r\neval[^*]*){3}$/);
  });

  it("leave when there are sixteen, before the turn has ended, and the others at its end", async () => {
    const batcher = new CommandBatcher();
    const socket = new PassThrough();
    const sent = () => String(socket.read() ?? "").match(/eval/g)?.length ?? 0;
    for (let n = 0; n < 16; n += 1) socket.write(scriptCommand(batcher, true).toWritable(socket));
    expect(sent()).toBe(0);
    socket.write(scriptCommand(batcher, true).toWritable(socket));
    expect(sent()).toBe(16);
    batcher.sendNow();
    expect(sent()).toBe(1);
    for (let n = 0; n < 16; n += 1) socket.write(scriptCommand(batcher, true).toWritable(socket));
    expect(sent()).toBe(0);
    await new Promise((resume) => setImmediate(resume));
    expect([sent(), socket.writableCorked]).toEqual([16, 0]);
  });

  it("are counted for each connection", async () => {
    const batcher = new CommandBatcher();
    const [one, other] = [new PassThrough(), new PassThrough()];
    const write = (socket: PassThrough) => socket.write(scriptCommand(batcher, true).toWritable(socket));
    for (let n = 0; n < 16; n += 1) write(one);
    write(other);
    expect([one.readableLength, other.readableLength]).toEqual([0, 0]);
    write(one);
    expect([one.readableLength > 0, other.readableLength]).toEqual([true, 0]);
    await new Promise((resume) => setImmediate(resume));
    expect([one.writableCorked, other.writableCorked, other.readableLength > 0]).toEqual([0, 0, true]);
  });

  it("leave together with what is asked once the turn has ended", async () => {
    const batcher = new CommandBatcher();
    const socket = new PassThrough();
    const write = (name: string): void => {
      const command = new TrackedCommand({ name, args: ["k"], keys: ["k"] }, batcher);
      socket.write(command.toWritable(socket));
    };
    batcher.atEndOfTurn(() => {
      write("second");
      expect(socket.readableLength).toBe(0);
      batcher.atEndOfTurn(() => write("third"));
    });
    write("first");
    const names = () => [...String(socket.read()).matchAll(/[a-z]{5,}/g)].map(String);
    await new Promise((resume) => setImmediate(resume));
    expect(names()).toEqual(["first", "second"]);
    await new Promise((resume) => setImmediate(resume));
    expect(names()).toEqual(["third"]);
    expect(socket.writableCorked).toBe(0);
  });
});
