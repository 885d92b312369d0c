// Requests for what a project says of itself: its OpenAPI document and the page to read it on.

import type { IncomingHttpHeaders } from "node:http";
import Negotiator from "negotiator";
import { authorizeDescription, authorizeReferencePage } from "../authorize/authorize.ts";
import type { LiveProject } from "../config/directory.ts";
import { currentResponse, preconditionsOf } from "../http/conditional-requests.ts";
import type { Exchange } from "../http/exchange.ts";
import type { HttpResponse } from "../http/response.ts";
import type { PlanBase, PlanInput, SubjectOf } from "../operation/plan.ts";
import { unknownPath } from "../route/route.ts";
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
  if (target.kind === "openapi") authorizeDescription(project.config, caller);
  else if (target.kind === "docs") authorizeReferencePage(project.config, caller);
  return { kind: "description", project, caller, isWrite: false, usesStoredData: false, base, target };
}

export async function carryOutDescription(
  deps: OpenapiDeps,
  { project, base, target }: DescriptionPlan,
  exchange: Exchange,
): Promise<HttpResponse> {
  const { headers } = exchange.request;
  if (target.kind === "base") return pageOf(project, base, headers);
  if (target.kind === "docs") return deps.referencePage({ file: target.file, target: exchange.rawUrl, headers });
  return currentResponse(await deps.descriptions.textOf(project, base), preconditionsOf(headers));
}

/** Who follows a project's URL in a browser comes to its reference page. For other clients nothing is there. */
function pageOf({ config }: LiveProject, base: string, headers: IncomingHttpHeaders): HttpResponse {
  const wanted = headers.accept === undefined ? undefined : new Negotiator({ headers }).mediaType(offered);
  if (wanted !== "text/html" || config.openapi === "Nobody") throw unknownPath();
  return { status: 302, headers: { Location: `${base}/docs`, Vary: "Accept, Origin" } };
}

/** Of what a client takes equally, the first. */
const offered = ["application/json", "text/html"];
