// Refuses with `data_lost` while the store no longer holds the data that it held: docs/adr/0039.

import { Problem } from "../../core/errors/problem.ts";
import type { Directory, LiveProject } from "../config/directory.ts";

export function demandData(directory: Pick<Directory, "dataLost">, { config }: LiveProject): void {
  if (!directory.dataLost(config)) return;
  const detail =
    "The store no longer holds the data that it held; nothing was done. Its operators have to restore or accept it";
  throw new Problem("data_lost", detail, { headers: { "Retry-After": "60" } });
}
