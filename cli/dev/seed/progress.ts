// Shows at a terminal how far a seed is. Elsewhere, and for what is stored in a moment, nothing is shown.

import type { SeedProgress } from "./seeder.ts";

export interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const minTotal = 1_000;
const width = 24;
const clearLine = "\r\u001b[2K";

export function createSeedProgress(terminal: Terminal): (progress: SeedProgress) => void {
  return ({ name, stored, total }) => {
    if (terminal.isTTY !== true || total < minTotal) return;
    const filled = Math.floor((width * stored) / total);
    const bar = "#".repeat(filled).padEnd(width, ".");
    terminal.write(stored === total ? clearLine : `${clearLine}Seeding ${name} [${bar}] ${stored} of ${total}`);
  };
}
