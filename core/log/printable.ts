// Text that may be shown at a terminal, in a status or in an Event, whatever somebody put into it: characters that move the cursor, end a line
// or turn the order of letters are escaped as JSON does.

export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
