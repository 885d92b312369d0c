// Checks a Project by itself, without its children: what of it is served, and its verdict. Its spec may be broken, its
// signing ring missing, a host of it somebody else's, or an issuer out of reach; the last two cost it that host or issuer only.

import type { ProjectConfig, ProjectLimits, ProjectParts, SigningRing } from "../../core/config/types.ts";
import type { IssuersContext } from "../model/issuers.ts";
import type { Project } from "../model/objects.ts";
import { adoptAnnotation } from "../model/project-objects.ts";
import { type Fault, type Notice, type Refusal, type Result, refuse, type Verdict } from "../model/verdict.ts";
import { refused, subjectOf } from "./compile-children.ts";
import { type CompiledIssuers, compileIssuers, type RefusedIssuer } from "./compile-issuers.ts";
import { compileProjectConfig } from "./compile-project-config.ts";
import { issuerSourcesOf } from "./declared-issuers.ts";
import type { HostGrant, RefusedHost } from "./hosts.ts";
import { stillGranted, withNewestKeys } from "./kept-issuers.ts";

export interface ProjectContext {
  /** True when data of an earlier namespace are stored under the Project's name: they are not served. */
  readonly foreignData?: boolean;
  readonly hosts: HostGrant;
  readonly issuers: IssuersContext;
  readonly signing: Result<SigningRing>;
  readonly published?: ProjectParts;
  /** By UID, what the platform's rules forbid. */
  readonly notAllowed?: ReadonlyMap<string, Refusal>;
  readonly limitPublished?: (limits: ProjectLimits) => ProjectLimits;
}

export type LiveProject = Pick<ProjectParts, "project" | "signing" | "issuers">;

export interface CheckedProject {
  /** Absent = the Project has never been good: nothing of it may be served. */
  readonly live?: LiveProject;
  readonly verdict: Verdict;
  /** The keys of some issuers are being fetched for the first time. */
  readonly awaitsIssuers?: true;
}

export function checkProject(project: Project, context: ProjectContext): CheckedProject {
  const subject = subjectOf(project);
  const config = compileProjectConfig(project, context.hosts);
  const { signing } = context;
  if (!config.ok) return fallBack(project, context, config.refusal);
  const notAllowed = context.notAllowed?.get(project.metadata.uid);
  if (notAllowed !== undefined) return fallBack(project, context, notAllowed);
  if (!signing.ok) return fallBack(project, context, signing.refusal);
  const { issuers, refused: refusedIssuers, notices, isPending } = issuersOf(project, context);
  const live = { project: config.value, signing: signing.value, issuers };
  const pending = isPending ? ({ awaitsIssuers: true } as const) : {};
  const refusal = partialRefusal([...context.hosts.refused, ...refusedIssuers], notices);
  if (refusal === undefined) return { live, verdict: { ...subject, accepted: true, notices }, ...pending };
  return { live, verdict: { ...subject, accepted: false, ...refusal, live: true, partly: true }, ...pending };
}

const withoutIssuers: CompiledIssuers = Object.freeze({
  issuers: new Map(),
  refused: [],
  notices: [],
  isPending: false,
});

function issuersOf(project: Project, { published, issuers }: ProjectContext): CompiledIssuers {
  const isNamingSome = project.spec.authentication.issuers !== undefined;
  return isNamingSome ? compileIssuers(project, published, issuers) : withoutIssuers;
}

/**
 * The last published version. Hosts that the present spec does not hold are left out, because another
 * Project may hold them by now. Limits are reduced to what the platform allows now.
 */
export function lastGoodProject(
  project: Project,
  { published, hosts, limitPublished }: Pick<ProjectContext, "published" | "hosts" | "limitPublished">,
): ProjectConfig | undefined {
  if (published?.project.uid !== project.metadata.uid) return undefined;
  const config = published.project;
  const held = config.hosts.filter((host) => hosts.granted.includes(host));
  const limits = limitPublished === undefined ? config.limits : limitPublished(config.limits);
  return { ...config, hosts: held, limits };
}

function fallBack(project: Project, context: ProjectContext, refusal: Refusal): CheckedProject {
  const { published, signing } = context;
  const lastGood = lastGoodProject(project, context);
  // A Project can be switched off, and on again, whatever else is wrong with its spec.
  const config = lastGood && { ...lastGood, serving: project.spec.serving };
  const verdict = refused(subjectOf(project), refusal, config !== undefined);
  if (config === undefined || published === undefined) return { verdict };
  const ring = signing.ok ? signing.value : published.signing;
  const granted = stillGranted(project, published.issuers, context.issuers.isAllowed);
  const issuers = withNewestKeys(granted, issuerSourcesOf(project, context.issuers.isAllowed), context.issuers);
  return { live: { project: config, signing: ring, issuers }, verdict };
}

/** Before all else, a suspended Project included: nothing of it may be served. */
export function foreignDataRefusal({ metadata: { namespace }, spec }: Project, mayAdopt: boolean): Refusal {
  const found = `Data of an earlier namespace "${namespace}" are on record under the name of this Project`;
  const rename = "or create the Project under another name";
  if (mayAdopt) {
    const resume = spec.suspend ? ", and set spec.suspend to false" : "";
    const advice = `to serve them, annotate it with ${adoptAnnotation}: "true"${resume}; to begin without them, ask the platform team to delete them, ${rename}`;
    return refuse("RetainedDataFound", `${found}: ${advice}`, "/metadata/annotations").refusal;
  }
  const advice = `they may be another team's. Ask the platform team to allow taking them over, or to delete them, ${rename}`;
  return refuse("RetainedDataFound", `${found}: ${advice}`).refusal;
}

function partialRefusal(
  refused: readonly (RefusedHost | RefusedIssuer)[],
  notices: readonly Notice[],
): Refusal | undefined {
  const [first, ...rest] = refused;
  if (first === undefined) return undefined;
  // What a platform's rule forbids needs a person just as a conflict does; the first one's reason speaks for all.
  return { reason: first.reason, faults: [faultOf(first), ...[...rest, ...notices].map(faultOf)] };
}

function faultOf({ message, pointer }: Fault): Fault {
  return pointer === undefined ? { message } : { message, pointer };
}
