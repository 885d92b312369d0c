// Time as a port: tests inject their own clock, programs pass `systemClock`.

export interface Clock {
  /** Unix time in milliseconds. It can be set back: use it for dates, never for durations. */
  now(): number;
  /** Milliseconds since some moment, which never go back: for waiting, ages and deadlines. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
