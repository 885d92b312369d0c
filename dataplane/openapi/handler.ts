// Requests for what a project says of itself: its OpenAPI document and the page to read it on.

import { authorizeDescription, authorizeReferencePage } from "../authorize/authorize.ts";
import { currentResponse, preconditionsOf } from "../http/conditional-requests.ts";
import type { Exchange } from "../http/exchange.ts";
import type { HttpResponse } from "../http/response.ts";
import type { PlanBase, PlanInput, SubjectOf } from "../operation/plan.ts";
import type { Descriptions } from "./descriptions.ts";
import type { ReferencePage } from "./reference-page.ts";

export interface OpenapiDeps {
  readonly descriptions: Descriptions;
  readonly referencePage: ReferencePage;
}

export interface DescriptionPlan extends PlanBase {
  readonly kind: "description";
  readonly base: string;
  readonly target: SubjectOf<"description">["target"];
}

export function planDescription(
  { project, caller, base }: PlanInput,
  { target }: SubjectOf<"description">,
): DescriptionPlan {
  const authorize = target.kind === "docs" ? authorizeReferencePage : authorizeDescription;
  authorize(project.config, caller);
  return { kind: "description", project, caller, isWrite: false, usesStoredData: false, base, target };
}

export async function carryOutDescription(
  deps: OpenapiDeps,
  { project, base, target }: DescriptionPlan,
  exchange: Exchange,
): Promise<HttpResponse> {
  const { headers } = exchange.request;
  if (target.kind === "docs") return deps.referencePage({ file: target.file, target: exchange.rawUrl, headers });
  return currentResponse(await deps.descriptions.textOf(project, base), preconditionsOf(headers));
}
