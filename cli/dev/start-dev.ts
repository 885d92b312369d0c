// Starts dev mode and ends it: what can be refused early is refused before anything is made or loaded, and whatever was
// opened is closed again, after a signal as after a failure.

import { enableCompileCache } from "node:module";
import { refusalOf, requireFolder } from "../start-refused.ts";
import { stopSignal } from "../stop-signal.ts";
import { openDataFolder } from "./data-folder.ts";
import type { Closers, DevOptions } from "./dev-options.ts";

/** Resolves with the exit code once a signal has ended it, or at once when it can't start. */
export async function startDev(options: DevOptions): Promise<number> {
  const stopping = stopSignal();
  const closers: Closers = [];
  try {
    await requireFolder(options.folder);
    const data = await openDataFolder(options.data, options.folder);
    closers.push(() => data.close());
    // What Node makes of our modules is kept, which spares every start but the first a good part of its time; in this
    // folder and not in the system's for temporary files, because what lies there is run.
    enableCompileCache(data.file("cache"));
    const { runDev } = await import("./run-dev.ts");
    // A signal ends the start, too.
    await Promise.race([runDev(options, data, closers), stopping]);
    await stopping;
    return 0;
  } catch (error) {
    const refusal = refusalOf(error, options);
    if (refusal === undefined) throw error;
    process.stderr.write(`jsonplane: ${refusal}\n`);
    return 1;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
