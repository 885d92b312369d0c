// A network that is away for a time: in place of the `fetch` of a client.

export interface Network {
  readonly fetch: typeof fetch;
  /** Requests that have failed because of `cut`. */
  readonly refusals: number;
  /** Requests fail, and all that is under way; or those that begin with this, such as `POST /a`. */
  cut(requests?: string): void;
  /** With an origin, what was sent to another one goes there: a load balancer's other replica. */
  restore(origin?: string): void;
  /** The server carries the next write out, and its answer is lost. */
  loseNextAnswer(): void;
  /** The next position that is sent is one that the server has lost. */
  loseNextPosition(): void;
}

const lostPosition = "1-1.00000000";

export function createNetwork(): Network {
  let cutter = new AbortController();
  let away: string | undefined;
  let refusals = 0;
  let isLosing = false;
  let isPositionLost = false;
  let elsewhere: string | undefined;
  return {
    get refusals() {
      return refusals;
    },
    async fetch(input, init = {}) {
      const { method = "GET", signal } = init;
      const url = new URL(String(input));
      const headers = new Headers(init.headers);
      if (away !== undefined && `${method} ${url.pathname}${url.search}`.startsWith(away)) {
        refusals += 1;
        throw new TypeError("Failed to fetch");
      }
      const signals = [cutter.signal, ...(signal ? [signal] : [])];
      const at = elsewhere === undefined ? url : new URL(url.pathname + url.search, elsewhere);
      if (isPositionLost) isPositionLost = !losePosition(headers, at.searchParams);
      const response = await fetch(at, { ...init, headers, signal: AbortSignal.any(signals) });
      if (method === "GET" || !isLosing) return response;
      isLosing = false;
      throw new TypeError("Failed to fetch");
    },
    cut(requests) {
      away = requests ?? "";
      if (requests === undefined) cutter.abort();
    },
    restore(origin) {
      cutter = new AbortController();
      away = undefined;
      elsewhere = origin;
    },
    loseNextAnswer() {
      isLosing = true;
    },
    loseNextPosition() {
      isPositionLost = true;
    },
  };
}

/** Whether there was one. */
function losePosition(...places: readonly (Headers | URLSearchParams)[]): boolean {
  for (const place of places) {
    const name = ["Last-Event-ID", "_position"].find((each) => place.has(each));
    if (name !== undefined) place.set(name, lostPosition);
    if (name !== undefined) return true;
  }
  return false;
}
