// Refuses with `data_lost` while the store no longer holds the data that it held: docs/adr/0039.

import { Problem } from "../../core/errors/problem.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import type { Directory, LiveProject } from "../config/directory.ts";

type Losses = Pick<Directory, "dataLost">;

export function requireData(directory: Losses, { config }: LiveProject): void {
  if (directory.dataLost(config)) throw dataLost("The store no longer holds the data that it held; nothing was done.");
}

/**
 * Refuses as well what was under way when the data were lost: of the calls that a request makes, the later ones may have been answered by
 * an empty store, so that a list ends early, or an object that was there is not found.
 */
export function whileDataStay<T>(directory: Losses, project: LiveProject, carryOut: () => Promise<T>): Promise<T> {
  requireData(directory, project);
  return carryOut().then(
    (done) => {
      requireNoLoss(directory, project);
      return done;
    },
    (error: unknown) => {
      // What says that the store failed is true of it, lost data or not.
      if (!isStoreFailure(error)) requireNoLoss(directory, project);
      throw error;
    },
  );
}

function requireNoLoss(directory: Losses, { config }: LiveProject): void {
  if (directory.dataLost(config)) {
    throw dataLost(
      "The store lost the data that it held while the request was carried out, and what was done with them.",
    );
  }
}

function dataLost(what: string): Problem {
  const detail = `${what} Its operators have to restore or accept it`;
  return new Problem("data_lost", detail, { headers: { "Retry-After": "60" } });
}
