// Requests for what describes a project: its OpenAPI document, the page to read it, and the
// console. Pages also get what people need to sign in with the project's external issuers.

import type { IncomingHttpHeaders } from "node:http";
import type { IssuerConfig } from "../../core/config/types.ts";
import { devModeMeta, type OfferedIssuer, offeredIssuersId, safeOriginOf } from "../../pages/sign-in/offered-issuer.ts";
import type { FairShareLimiter } from "../admission/fair-share.ts";
import { authorizeDescription, authorizePage } from "../authorize/authorize.ts";
import type { LiveProject } from "../config/directory.ts";
import { isNotModified, preconditionsOf } from "../http/conditional-requests.ts";
import type { HttpResponse, IncomingRequest } from "../http/exchange.ts";
import { isPageWanted, type Page, type PageAddition } from "../http/page.ts";
import type { PlanBase, PlanInput, SubjectOf } from "../operation/plan.ts";
import { unknownPath } from "../route/route.ts";
import type { Descriptions } from "./descriptions.ts";

export interface OpenapiDeps {
  readonly fairShare: FairShareLimiter;
  readonly descriptions: Descriptions;
  readonly referencePage: Page;
  readonly consolePage: Page;
  readonly signInOffers: SignInOffers;
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
  const { config } = project;
  switch (target.kind) {
    case "base":
      break;
    case "openapi":
      authorizeDescription(config, "openapi", caller);
      break;
    case "consoleDescription":
      authorizeDescription(config, "console", caller);
      break;
    case "docs":
      authorizePage(config, "openapi", caller);
      break;
    case "console":
      authorizePage(config, "console", caller);
      break;
  }
  return { kind: "description", project, caller, isWrite: false, usesStoredData: false, base, target };
}

export async function carryOutDescription(
  { descriptions, fairShare, referencePage, consolePage, signInOffers }: OpenapiDeps,
  { project, base, target }: DescriptionPlan,
  { request: { headers }, rawUrl }: IncomingRequest,
): Promise<HttpResponse> {
  switch (target.kind) {
    case "base":
      return pageOf(project, base, headers);
    case "docs":
      return referencePage({ file: target.file, target: rawUrl, headers, addition: signInOffers(project) });
    case "console":
      return consolePage({ file: target.file, target: rawUrl, headers, addition: signInOffers(project) });
    case "openapi":
    case "consoleDescription": {
      const { bytes, tag } = await descriptions.of(project, base, fairShare.of(project));
      const links = target.kind === "openapi" ? linkToConsole(project, base) : linksOf(project, base);
      const answered = { headers: { ETag: tag, ...links } };
      if (isNotModified(preconditionsOf(headers), tag)) return { status: 304, ...answered };
      return { status: 200, file: { type: "application/json", bytes }, ...answered };
    }
  }
}

/** Browsers at a project's URL are redirected to its console or reference page. Others get 404. */
function pageOf({ config }: LiveProject, base: string, headers: IncomingHttpHeaders): HttpResponse {
  if (!isPageWanted(headers) || (config.console === "Nobody" && config.openapi === "Nobody")) throw unknownPath();
  const page = config.console === "Nobody" ? "docs" : "console";
  // Without the origin: a proxy in front may speak TLS, and not say so.
  const { pathname } = new URL(base);
  return { status: 302, headers: { Location: `${pathname.replace(/\/$/, "")}/${page}`, Vary: "Accept, Origin" } };
}

/** The Link header from the reference page to the console; none if nobody may use the console. */
function linkToConsole({ config }: LiveProject, base: string): Readonly<Record<string, string>> {
  return config.console === "Nobody" ? {} : { Link: `<${base}/console>; rel="related"; title="Console"` };
}

/** Links to the description (RFC 8631), for the console; none if nobody may read it. */
function linksOf({ config }: LiveProject, base: string): Readonly<Record<string, string>> {
  if (config.openapi === "Nobody") return {};
  return { Link: `<${base}/openapi.json>; rel="service-desc", <${base}/docs>; rel="service-doc"` };
}

/** The same object while the project is the same. */
type SignInOffers = (project: LiveProject) => PageAddition | undefined;

/** `keepsSignIn`: people stay signed in when they load a page again. */
export function createSignInOffers(keepsSignIn = false): SignInOffers {
  const none = keepsSignIn ? keeping : undefined;
  const made = new WeakMap<LiveProject["issuers"], PageAddition>();
  return ({ issuers }) => {
    // Nearly all projects: asked for nothing.
    if (issuers.size === 0) return none;
    let addition = made.get(issuers);
    if (addition === undefined) {
      addition = additionOf(issuers, none);
      if (addition !== undefined) made.set(issuers, addition);
    }
    return addition;
  };
}

const keeping: PageAddition = { html: `<meta name="${devModeMeta}" />`, connectTo: [] };

function additionOf(issuers: LiveProject["issuers"], none: PageAddition | undefined): PageAddition | undefined {
  const usable = [...issuers.values()].flatMap(offerOf).sort((one, other) => (one.name < other.name ? -1 : 1));
  if (usable.length === 0) return none;
  // Nothing in it can end the element.
  const json = JSON.stringify(usable).replaceAll("<", "\\u003c");
  return {
    html: `${none?.html ?? ""}<script type="application/json" id="${offeredIssuersId}">${json}</script>`,
    connectTo: [...new Set(usable.flatMap(({ tokenEndpoint }) => safeOriginOf(tokenEndpoint) ?? []))].sort(),
  };
}

function offerOf({ name, url, audiences, signIn }: IssuerConfig): readonly OfferedIssuer[] {
  if (signIn === undefined) return [];
  const { authorizationEndpoint, tokenEndpoint } = signIn;
  const isSafe = [authorizationEndpoint, tokenEndpoint].every((endpoint) => safeOriginOf(endpoint) !== undefined);
  return isSafe ? [{ name, url, audiences, ...signIn }] : [];
}
