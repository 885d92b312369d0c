// What one pass over the folder found out, before it is put into words.

import type { Verdict } from "../../operator/model/verdict.ts";
import type { DevState } from "./dev-state.ts";
import type { FolderReading } from "./read-folder.ts";

export interface PassResult {
  readonly folder: string;
  readonly reading: FolderReading;
  readonly known: DevState;
  readonly verdicts: readonly Verdict[];
}
