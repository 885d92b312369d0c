// Shows what a project says of itself: its OpenAPI document and the page to read it on.

import { authorizeDescription, authorizeReferencePage } from "../authorize/authorize.ts";
import type { Answer } from "../http/answer.ts";
import { currentAnswer, preconditionsOf } from "../http/conditional-requests.ts";
import type { Exchange } from "../http/exchange.ts";
import { type Act, baseUrl, type LinkDeps, type SubjectOf } from "../operation/context.ts";
import type { Descriptions } from "./descriptions.ts";
import type { ReferencePage } from "./reference-page.ts";

export interface OpenapiDeps extends LinkDeps {
  readonly descriptions: Descriptions;
  readonly referencePage: ReferencePage;
}

export async function onDescription(
  deps: OpenapiDeps,
  exchange: Exchange,
  act: Act,
  target: SubjectOf<"description">["target"],
): Promise<Answer> {
  const { project } = act.place;
  if (target.kind === "docs") {
    authorizeReferencePage(project.config, act.caller);
    const { headers } = exchange.request;
    return deps.referencePage({ file: target.file, target: exchange.rawUrl, headers });
  }
  authorizeDescription(project.config, act.caller);
  const text = await deps.descriptions.textOf(project, baseUrl(deps, exchange, act.place));
  return currentAnswer(text, preconditionsOf(exchange.request.headers));
}
