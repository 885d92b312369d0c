// Handles requests for what a project says of itself: its OpenAPI document and the page to read it on.

import { authorizeDescription, authorizeReferencePage } from "../authorize/authorize.ts";
import type { Answer } from "../http/answer.ts";
import { currentAnswer, preconditionsOf } from "../http/conditional-requests.ts";
import type { Exchange } from "../http/exchange.ts";
import { baseUrl, type LinkDeps, type OperationContext, type SubjectOf } from "../operation/context.ts";
import type { Descriptions } from "./descriptions.ts";
import type { ReferencePage } from "./reference-page.ts";

export interface OpenapiDeps extends LinkDeps {
  readonly descriptions: Descriptions;
  readonly referencePage: ReferencePage;
}

export async function handleDescription(
  deps: OpenapiDeps,
  exchange: Exchange,
  operation: OperationContext,
  target: SubjectOf<"description">["target"],
): Promise<Answer> {
  const { project } = operation.resolved;
  if (target.kind === "docs") {
    authorizeReferencePage(project.config, operation.caller);
    const { headers } = exchange.request;
    return deps.referencePage({ file: target.file, target: exchange.rawUrl, headers });
  }
  authorizeDescription(project.config, operation.caller);
  const text = await deps.descriptions.textOf(project, baseUrl(deps, exchange, operation.resolved));
  return currentAnswer(text, preconditionsOf(exchange.request.headers));
}
