import { describe, expect, it } from "vitest";
import { DataFolderLost } from "../../../cli/dev/data-folder/tracked-files.ts";
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

describe("a data folder that vanishes during the start", () => {
  it("is refused with a sentence, and not reported as a defect", () => {
    const lost = new DataFolderLost("The data folder .data was removed");
    expect(refusalOf(lost, { host: "127.0.0.1", port: 8080 })).toBe("The data folder .data was removed");
  });
});
