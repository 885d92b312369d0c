// Loaded into a replica's process before its program (`node --import`): moves its wall clock by as
// many milliseconds as stand in a file, which is read every 50 ms. Timers and performance.now() go
// on as they are, as with a real clock that jumps.

import { readFileSync } from "node:fs";

const file = new URL(import.meta.url).searchParams.get("file") ?? "";
const RealDate = Date;
const realNow = Date.now.bind(Date);
let shift = 0;

function read(): void {
  try {
    shift = Math.round(Number(readFileSync(file, "utf8"))) || 0;
  } catch {
    // Being written: the next look finds it.
  }
}

class ShiftedDate extends RealDate {
  constructor(...args: readonly unknown[]) {
    // What the caller gave is passed on as it is; Date alone knows its forms.
    super(...((args.length === 0 ? [realNow() + shift] : args) as [number]));
  }

  static override now(): number {
    return realNow() + shift;
  }
}

read();
globalThis.Date = ShiftedDate as DateConstructor;
setInterval(read, 50).unref();
