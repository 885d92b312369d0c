// Time as a port: tests inject their own clock, programs pass `systemClock`.

export interface Clock {
  /** Unix time in milliseconds. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
