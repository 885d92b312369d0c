import { describe, expect, it } from "vitest";
import {
  isMeant,
  maxAheadMs,
  maxAnnotationBytes,
  readRequests,
} from "../../../../operator/stored-data/deletion-requests.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const at = "2026-11-22T08:30:00Z";

const ofSecret = (text: string) => readRequests(text, now);

describe("what the annotation asks for", () => {
  it("is whole Projects and single data, with spaces, commas or lines between", () => {
    const { requests, faults } = ofSecret(
      `shop/store@${at} shop/store/ApiResource/books@${at},\n shop/old/rootkeys/flags@${at}`.replace(
        "rootkeys",
        "RootKey",
      ),
    );
    expect(faults).toEqual([]);
    expect(requests.map(({ project, data }) => [project.name, data])).toEqual([
      ["store", undefined],
      ["store", { what: "resource", name: "books" }],
      ["old", { what: "rootkey", name: "flags" }],
    ]);
  });

  it.each([
    ["no time", "shop/store/ApiResource/books", "says no time until which data were kept"],
    ["a day without a time", "shop/store@2026-11-22", "says no time"],
    ["two times", `shop/store@${at}@${at}`, "says no time"],
    ["a time that is none", "shop/store@2026-13-45T99:00:00Z", "says no time"],
    ["a day that there is not", "shop/store@2025-02-30T00:00:00Z", "says no time"],
    ["a namespace alone", `shop@${at}`, "names no kept data: write for example shop/store/ApiResource/books@"],
    ["a kind that has no data", `shop/store/ApiKey/web@${at}`, "names no kept data"],
    ["a name that is none", `shop/store/ApiResource/..%2f@${at}`, "names no kept data"],
    ["more than a name", `shop/store/ApiResource/books/1@${at}`, "names no kept data"],
  ])("is refused with what to write where it says %s", (_, text, expected) => {
    const { requests, faults } = ofSecret(text);
    expect(requests).toEqual([]);
    expect(faults).toEqual([expect.stringContaining(expected)]);
  });

  it("is refused for good where its time is of the future", () => {
    const { requests, faults } = ofSecret("shop/store@2026-12-24T00:00:00Z");
    expect(requests).toMatchObject([{ isEarly: true }]);
    expect(faults).toEqual([expect.stringContaining("is in the future, and stays refused")]);
    expect(ofSecret(`shop/store@${at}`).requests[0]?.isEarly).toBeUndefined();
  });

  it("may be of a clock that is a little ahead", () => {
    const soon = new Date(now + maxAheadMs).toISOString();
    expect(ofSecret(`shop/store@${soon}`).requests).toHaveLength(1);
  });

  it("is not read where it is longer than a bound, and few of many faults are told", () => {
    const long = `shop/store@${at} `.repeat(maxAnnotationBytes / 20);
    expect(ofSecret(long)).toEqual({
      requests: [],
      faults: [expect.stringContaining(`more than ${maxAnnotationBytes} bytes`)],
    });
    const many = Array.from({ length: 100 }, (_, index) => `wrong${index}${"x".repeat(200)}`).join(" ");
    const { faults } = ofSecret(many);
    expect(faults).toHaveLength(5);
    expect(Math.max(...faults.map(({ length }) => length))).toBeLessThan(250);
  });
});

describe("a request", () => {
  const entry = { what: "resource", name: "books", uid: "u", namespaceUid: "n", retained: true } as const;
  const of = (text: string) => {
    const [request] = ofSecret(text).requests;
    if (request === undefined) throw new Error("It is none");
    return request;
  };

  it("means what was kept until its time, to the millisecond, and nothing later", () => {
    const request = of("shop/store@2026-11-22T08:30:00.500Z");
    expect(isMeant({ ...entry, retainedAt: "2026-11-22T08:30:00.500Z" }, request)).toBe(true);
    expect(isMeant({ ...entry, retainedAt: "2026-11-22T08:30:00.501Z" }, request)).toBe(false);
  });

  it("means what has no time yet", () => {
    expect(isMeant(entry, of(`shop/store@${at}`))).toBe(true);
  });

  it("that names data means no others", () => {
    const request = of(`shop/store/ApiResource/books@${at}`);
    expect(isMeant(entry, request)).toBe(true);
    expect(isMeant({ ...entry, name: "films" }, request)).toBe(false);
    expect(isMeant({ ...entry, what: "rootkey" }, request)).toBe(false);
  });
});
