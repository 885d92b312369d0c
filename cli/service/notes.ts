// What a command tells the person at its terminal, beside what it writes.

const clear = "\r\u001b[K";

export function note(sentence: string): void {
  process.stderr.write(`${process.stderr.isTTY ? clear : ""}jsonplane: ${sentence}\n`);
}

const progressMs = 250;

/** On a terminal, a line that is written over until it is stopped. */
export function showProgress(text: () => string): { stop(): void } {
  if (!process.stderr.isTTY) return { stop: () => undefined };
  const timer = setInterval(() => process.stderr.write(`${clear}${text()}`), progressMs);
  return {
    stop() {
      clearInterval(timer);
      process.stderr.write(clear);
    },
  };
}
