// When so much is missing at once that it is looked for again before it is taken for gone.

const maxUnsuspicious = 10;

/** Most of many, or all of what there was: more likely a fault, or one act that concerned none of them, than a wish about each. */
export function isMassAbsence(absent: number, known: number): boolean {
  return (absent > maxUnsuspicious && absent * 2 > known) || (absent > 1 && absent === known);
}
