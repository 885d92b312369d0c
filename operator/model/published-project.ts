// What Redis holds of one project, as the operator needs it before it compiles: the parts that are
// served and what is known of stored data.

import type { ProjectParts } from "../../core/config/types.ts";
import type { DataRecord } from "./data-record.ts";

export interface PublishedProject {
  /**
   * Absent when nothing is published, or nothing that the key ring opens. A field that can't be
   * opened is left out.
   */
  readonly parts?: ProjectParts;
  readonly data?: DataRecord;
  /** The revision of the project's newest step, removals included; 0 when nothing is published. */
  readonly revision: number;
}
