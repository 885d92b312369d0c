// Time as a port: tests inject their own clock, programs pass `systemClock`.

export interface Clock {
  /** Unix time in milliseconds. It can be set, forward and back: for dates, never for how long something takes. */
  now(): number;
  /** Milliseconds since some moment, which never go back: for waiting, ages and deadlines. */
  monotonic(): number;
}

export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
