// What an import is to do, decided from caller and query. Refuses with 401, 403 and
// `invalid_parameter`.

import type { ProjectLimiter } from "../admission/fair-share.ts";
import { requirePermission } from "../authorize/authorize.ts";
import { queryParameters } from "../objects/list/query-parameters.ts";
import type { CollectionPreparer } from "../objects/prepare-collection.ts";
import type { OperationDeps, PlanBase, PlanDeps, PlanInput, PlannedRequest } from "../operation/plan.ts";
import type { DataStore } from "../store/port.ts";
import { invalid } from "./asked-export.ts";
import type { WriteMode } from "./write-object.ts";

export interface ImportPlan extends PlanBase {
  readonly kind: "import";
  readonly mode: WriteMode;
  /** Nothing is written. */
  readonly isDryRun: boolean;
  /** For a project with a quota the one that enforces it. */
  readonly store: DataStore;
  readonly limiter: ProjectLimiter;
}

export type ImportRequest = PlannedRequest<ImportPlan>;

export interface ImportDeps
  extends Pick<OperationDeps<ImportPlan>, "directory" | "bodyBudget" | "decideAgainIfChanged"> {
  readonly preparer: Pick<CollectionPreparer, "prepare">;
}

export function planImport(deps: PlanDeps, { project, caller, query }: PlanInput): ImportPlan {
  requirePermission(project.config, "Administrators", "create", caller);
  const { mode, isDryRun } = parametersOf(query);
  const store = deps.quotas.storeFor(project);
  const limiter = deps.fairShare.of(project);
  return { kind: "import", project, caller, isWrite: true, usesStoredData: true, mode, isDryRun, store, limiter };
}

function parametersOf(query: string): { readonly mode: WriteMode; readonly isDryRun: boolean } {
  const { _mode: mode = "create", _dryRun: dryRun = "false", ...others } = Object.fromEntries(queryParameters(query));
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw invalid(`An import has the parameters \`_mode\` and \`_dryRun\`, and no \`${unknown}\``);
  if (mode !== "create" && mode !== "replace") throw invalid("`_mode` must be `create` or `replace`");
  if (dryRun !== "true" && dryRun !== "false") throw invalid("`_dryRun` must be `true` or `false`");
  return { mode, isDryRun: dryRun === "true" };
}
