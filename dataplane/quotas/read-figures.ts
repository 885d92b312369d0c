// What a project's resources and root keys hold, together, as the store keeps it: only what its quota asks for.

import type { LiveProject } from "../config/directory.ts";
import type { Store } from "../store/port.ts";
import { type Figures, noFigures } from "./figures.ts";

export async function readFigures(store: Pick<Store, "count">, { config, resources }: LiveProject): Promise<Figures> {
  const quota = config.limits.quota ?? {};
  const collections = quota.objects === undefined ? [] : [...resources.keys()];
  const counts = await Promise.all(collections.map((resource) => store.count({ project: config, resource }, {})));
  return { ...noFigures, objects: counts.reduce((sum, count) => sum + count, 0) };
}
