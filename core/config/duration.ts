// Turns a duration as manifests write it ("5m", "1h30m", "90s") into seconds; refuses what is none.

const unitSeconds: Readonly<Record<string, number>> = { h: 3_600, m: 60, s: 1 };
const wholeDuration = /^(?:[0-9]{1,5}[hms]){1,3}$/;
const onePart = /([0-9]{1,5})([hms])/g;

/** Seconds, or undefined when `text` is not one to three of `<integer><h|m|s>`. */
export function durationSeconds(text: string): number | undefined {
  if (!wholeDuration.test(text)) return undefined;
  let seconds = 0;
  for (const [, count, unit] of text.matchAll(onePart)) seconds += Number(count) * (unitSeconds[unit ?? ""] ?? 0);
  return seconds;
}
