// What goes wrong at the fake API server, and when: a plan is asked at each request, and answers
// with a fault or nothing.

export type Fault =
  /** The connection is cut, before an answer. */
  | { readonly kind: "reset" }
  /** The connection is cut after the work was done: a write has happened, its answer is lost. */
  | { readonly kind: "resetAfter" }
  /** No byte ever comes back. */
  | { readonly kind: "hang" }
  | { readonly kind: "status"; readonly code: number; readonly reason: string; readonly retryAfterSeconds?: number }
  /** Watches: this many lines are sent, then the stream ends as said. */
  | { readonly kind: "cutStream"; readonly afterLines: number; readonly how: StreamEnd }
  /** Watches: lines go on, bookmarks don't come. */
  | { readonly kind: "dropBookmarks" }
  /** The answer takes this much longer. */
  | { readonly kind: "slow"; readonly milliseconds: number };

/**
 * `silent` = the connection stays and nothing comes any more, as behind a firewall that forgot it.
 */
export type StreamEnd = "reset" | "end" | "truncated" | "silent" | "gone" | "error";

export interface FakeRequest {
  /** `list`, `watch`, `get`, `create`, `replace`, `apply` or `delete`. */
  readonly verb: string;
  /** `<group>/<plural>`. */
  readonly collection: string;
  readonly namespace: string;
  readonly name: string;
  /** Path and query, as they came. */
  readonly target: string;
  readonly accept: string;
  readonly authorization: string | undefined;
}

export type FaultPlan = (request: FakeRequest) => Fault | undefined;

export const noFaults: FaultPlan = () => undefined;

/** Something goes wrong at every `1 / rate`-th request or so; the same for the same `random`. */
export function randomFaults(random: () => number, rate: number): FaultPlan {
  const among = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const status = (code: number, reason: string): Fault => ({ kind: "status", code, reason });
  return ({ verb }) => {
    if (random() >= rate) return undefined;
    const anywhere: readonly Fault[] = [
      { kind: "reset" },
      { kind: "hang" },
      status(500, "InternalError"),
      status(403, "Forbidden"),
      status(503, "ServiceUnavailable"),
      { kind: "status", code: 429, reason: "TooManyRequests", retryAfterSeconds: 1 },
      { kind: "slow", milliseconds: 5 + random() * 20 },
    ];
    if (verb === "list") return among([...anywhere, status(410, "Expired")]);
    if (verb !== "watch") return among([...anywhere, { kind: "resetAfter" }]);
    const afterLines = Math.floor(random() * 5);
    const ends: readonly StreamEnd[] = ["reset", "end", "truncated", "silent", "gone", "error"];
    return among<Fault>([
      ...anywhere,
      status(410, "Expired"),
      { kind: "dropBookmarks" },
      ...ends.map((how): Fault => ({ kind: "cutStream", afterLines, how })),
    ]);
  };
}
