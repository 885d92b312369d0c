import { describe, expect, it } from "vitest";
import { type Keyring, keyringText, parseKeyring, type RingKey } from "../../../../core/config/keyring.ts";
import {
  needsSealedWith,
  nextRingStep,
  type RingFacts,
  unseenMilliseconds,
} from "../../../../operator/keyring/next-ring-step.ts";
import type { RingState } from "../../../../operator/keyring/ring-secret.ts";

function ringOf(...kids: readonly string[]): Keyring {
  const [first, ...others] = kids.map((kid): RingKey => ({ kid, secret: new Uint8Array(32) }));
  if (first === undefined) throw new Error("A ring has a key");
  return { names: new Uint8Array(32), keys: [first, ...others] };
}

function stateOf(kids: readonly string[], rest: Partial<RingState> = {}): RingState {
  return { keyring: ringOf(...kids), rotate: undefined, rotated: undefined, rotating: undefined, since: 0, ...rest };
}

const facts: RingFacts = { commonKids: new Set(["a"]), sealedWith: new Set(["a"]), programmed: true, now: 1_000 };
const underWay = { rotate: "2", rotated: "2", rotating: "b", since: 1_000 };
const many = Array.from({ length: 16 }, (_, at) => `k${at}`);

describe("the next step of a ring", () => {
  it("is none unless a new value asks for one", () => {
    expect(nextRingStep(stateOf(["a"]), facts)).toEqual({ step: "none" });
    expect(nextRingStep(stateOf(["a"], { rotated: "1" }), facts)).toEqual({ step: "none" });
    expect(nextRingStep(stateOf(["a"], { rotate: "1", rotated: "1" }), facts)).toEqual({ step: "none" });
    expect(nextRingStep(stateOf(["a"], { rotate: "1" }), facts)).toEqual({ step: "append" });
    expect(nextRingStep(stateOf(["a"], { rotate: "2", rotated: "1" }), facts)).toEqual({ step: "append" });
  });

  it("is to wait while a live replica lacks the new key, then to let it seal", () => {
    const state = stateOf(["a", "b"], underWay);
    expect(nextRingStep(state, facts)).toMatchObject({ step: "wait" });
    expect(nextRingStep(state, { ...facts, now: 1e9 })).toMatchObject({ step: "wait" });
    expect(nextRingStep(state, { ...facts, commonKids: new Set(["a", "b"]) })).toEqual({ step: "promote", kid: "b" });
  });

  it("without a live replica is to let it seal once every new replica must read the new Secret", () => {
    const state = stateOf(["a", "b"], underWay);
    const nobody = { ...facts, commonKids: undefined };
    const late = underWay.since + unseenMilliseconds;
    expect(nextRingStep(state, { ...nobody, now: late - 1 })).toMatchObject({ step: "wait" });
    expect(nextRingStep(state, { ...nobody, now: late })).toEqual({ step: "promote", kid: "b" });
  });

  it("is to seal anew what the former key sealed, then to drop it when every replica has that", () => {
    const state = stateOf(["b", "a"], underWay);
    const both = { ...facts, commonKids: new Set(["a", "b"]) };
    const sealed = { ...both, sealedWith: new Set(["b"]) };
    expect(nextRingStep(state, { ...both, sealedWith: new Set(["a", "b"]) })).toEqual({ step: "reseal" });
    expect(nextRingStep(state, { ...sealed, programmed: false })).toMatchObject({ step: "wait" });
    expect(nextRingStep(state, { ...sealed, commonKids: new Set(["a"]) })).toMatchObject({ step: "wait" });
    expect(nextRingStep(state, sealed)).toEqual({ step: "drop", keep: new Set(["b"]) });
    expect(nextRingStep(state, { ...sealed, commonKids: undefined, programmed: false })).toMatchObject({
      step: "drop",
    });
  });

  it("begins with a new key when the one under way was taken out of the ring", () => {
    expect(nextRingStep(stateOf(["a"], underWay), facts)).toEqual({ step: "append" });
  });

  it("makes room in a full ring first, and waits when every key is needed", () => {
    const state = stateOf(many, { rotate: "1" });
    expect(needsSealedWith(state)).toBe(true);
    expect(nextRingStep(state, { ...facts, sealedWith: new Set(["k0", "k3"]) })).toEqual({
      step: "drop",
      keep: new Set(["k0", "k3"]),
    });
    expect(nextRingStep(state, { ...facts, sealedWith: new Set(many) })).toMatchObject({ step: "wait" });
  });

  it("asks what is sealed with which key only where that decides", () => {
    const asked = [stateOf(["a"]), stateOf(["a"], { rotate: "1" }), stateOf(["a", "b"], underWay)].map(needsSealedWith);
    expect(asked).toEqual([false, false, false]);
    expect(needsSealedWith(stateOf(["b", "a"], underWay))).toBe(true);
  });
});

describe("a ring's text", () => {
  it("is read back as it was", () => {
    const ring = ringOf("b", "a");
    expect(keyringText(parseKeyring(keyringText(ring)))).toBe(keyringText(ring));
  });
});
