// Waits for the person or the system to end the program: the first Ctrl-C or SIGTERM asks, a second one insists.

/** Resolves at the first signal, with the code that shells give to it. A second one ends the process at once, with that code. */
export async function stopSignal(): Promise<number> {
  const signals = { SIGINT: 130, SIGTERM: 143 } as const;
  return await new Promise((resolve) => {
    let asked = false;
    for (const [signal, code] of Object.entries(signals)) {
      process.on(signal, () => {
        if (asked) process.exit(code);
        asked = true;
        resolve(code);
      });
    }
  });
}
