import { describe, expect, it } from "vitest";
import { refusalOf } from "../../../cli/start-refused.ts";

function inUse(port: number): Error {
  return Object.assign(new Error("listen EADDRINUSE"), { code: "EADDRINUSE", port });
}

describe("a port that is in use", () => {
  it("is refused with the flag that chooses it", () => {
    const ports = { host: "127.0.0.1", port: 8080 };
    expect(refusalOf(inUse(8080), ports)).toContain("choose another with --port");
    expect(refusalOf(inUse(9090), ports)).toContain("choose another with --admin-port");
  });

  it("is never refused with --port by a program that has no such flag", () => {
    expect(refusalOf(inUse(9090), { host: "127.0.0.1" })).toBe(
      "Port 9090 is in use on 127.0.0.1: stop what listens there, or choose another with --admin-port",
    );
  });
});
