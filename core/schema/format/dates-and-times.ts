// Checks texts for the dates and times of RFC 3339, and for those of ISO 8601 that may lack an offset; refuses those that no
// calendar or clock shows.

const fullDate = /^(\d{4})-(\d\d)-(\d\d)$/;
const partialTime = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?/;

export function isDate(text: string): boolean {
  const parts = fullDate.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

/** Years of 400 are alike; the constructor of Date takes those before 100 for those after 1900. */
function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

const rfc3339Offset = /^(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const isoOffset = /^(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)?$/;

export const isTime = (text: string): boolean => isTimeWith(rfc3339Offset, text);
export const isIsoTime = (text: string): boolean => isTimeWith(isoOffset, text);
export const isDateTime = (text: string): boolean => isDateAndTime(text, isTime);
export const isIsoDateTime = (text: string): boolean => isDateAndTime(text, isIsoTime);

function isTimeWith(offset: RegExp, text: string): boolean {
  const time = partialTime.exec(text);
  const zone = time && offset.exec(text.slice(time[0].length));
  if (!zone) return false;
  const [hour, minute, second] = time.slice(1).map(Number) as [number, number, number];
  const [, sign, ...offsetParts] = zone;
  const [hours, minutes] = offsetParts.map((part = "0") => Number(part)) as [number, number];
  if (hour > 23 || minute > 59 || second > 60 || hours > 23 || minutes > 59) return false;
  const ahead = (sign === "-" ? -1 : 1) * (60 * hours + minutes);
  return second < 60 || isLastOfDay(60 * hour + minute - ahead);
}

const minutesOfDay = 24 * 60;

/** Leap seconds follow 23:59:59 of UTC. */
function isLastOfDay(minute: number): boolean {
  return (minute + minutesOfDay) % minutesOfDay === minutesOfDay - 1;
}

/** RFC 3339 §5.6 lets a space stand for the T. */
function isDateAndTime(text: string, isTimePart: (time: string) => boolean): boolean {
  return isDate(text.slice(0, 10)) && /^[Tt ]/.test(text.slice(10)) && isTimePart(text.slice(11));
}
