// Checks a Project by itself, without its children: what of it is served, and its verdict. Its spec
// may be broken, its signing ring missing, a host of it somebody else's, or an issuer out of reach;
// the last two cost it that host or issuer only.

import { durationSeconds } from "../../core/config/duration.ts";
import type {
  CompiledProject,
  ProjectLimits,
  ProjectRates,
  ProjectSettings,
  Rate,
  SigningRing,
} from "../../core/config/types.ts";
import type { IssuersContext } from "../model/issuers.ts";
import type { Project } from "../model/objects.ts";
import { adoptAnnotation } from "../model/project-objects.ts";
import { type Fault, type Refusal, type Result, refuse, refuseAll, type Verdict } from "../model/verdict.ts";
import { refused, subjectOf } from "./compile-children.ts";
import type { HostGrant } from "./hosts.ts";
import { compileIssuers } from "./issuers.ts";

export interface ProjectContext {
  /**
   * True when data of an earlier namespace are stored under the Project's name: they are not
   * served.
   */
  readonly foreignData?: boolean;
  readonly hosts: HostGrant;
  readonly issuers: IssuersContext;
  readonly signing: Result<SigningRing>;
  readonly published?: CompiledProject;
  /** By UID, what the platform's rules forbid. */
  readonly notAllowed?: ReadonlyMap<string, Refusal>;
  readonly limitPublished?: (limits: ProjectLimits) => ProjectLimits;
}

export interface CheckedProject {
  /** Absent = the Project has never been good: nothing of it may be served. */
  readonly live?: Pick<CompiledProject, "project" | "signing" | "issuers">;
  readonly verdict: Verdict;
}

export function checkProject(project: Project, context: ProjectContext): CheckedProject {
  const { hosts, signing } = context;
  const subject = subjectOf(project);
  const compiled = compileIssuers(project, context.published, context.issuers);
  const { issuers, notices } = compiled;
  const config = allowedConfig(project, context);
  if (!config.ok) return fallBack(project, context, issuers, config.refusal);
  if (!signing.ok) return fallBack(project, context, issuers, signing.refusal);
  const live = { project: config.value, signing: signing.value, issuers };
  const [first, ...others] = [...hosts.refused, ...compiled.refused];
  if (first === undefined) return { live, verdict: { ...subject, accepted: true, notices } };
  // What a platform's rule forbids needs a person just as a conflict does; the first one's reason
  // speaks for all.
  const faults = [faultOf(first), ...[...others, ...notices].map(faultOf)] as const;
  const refusal = { reason: first.reason, faults };
  return { live, verdict: { ...subject, accepted: false, ...refusal, live: true, partly: true } };
}

function fallBack(
  project: Project,
  context: ProjectContext,
  issuers: CompiledProject["issuers"],
  refusal: Refusal,
): CheckedProject {
  const { published, signing } = context;
  const lastGood = lastGoodProject(project, context);
  const verdict = refused(subjectOf(project), refusal, lastGood !== undefined);
  if (lastGood === undefined || published === undefined) return { verdict };
  // A Project can be switched off, and on again, whatever else is wrong with its spec.
  const config = { ...lastGood, serving: project.spec.serving };
  return { live: { project: config, signing: signing.ok ? signing.value : published.signing, issuers }, verdict };
}

function allowedConfig(project: Project, { hosts, notAllowed }: ProjectContext): Result<ProjectSettings> {
  const config = compileProjectSettings(project, hosts);
  const refusal = config.ok ? notAllowed?.get(project.metadata.uid) : undefined;
  return refusal === undefined ? config : { ok: false, refusal };
}

/**
 * The last published version. Hosts that the present spec does not hold are left out, because
 * another Project may hold them by now. Limits are reduced to what the platform allows now.
 */
export function lastGoodProject(
  project: Project,
  { published, hosts, limitPublished }: Pick<ProjectContext, "published" | "hosts" | "limitPublished">,
): ProjectSettings | undefined {
  if (published?.project.uid !== project.metadata.uid) return undefined;
  const config = published.project;
  const held = config.hosts.filter((host) => hosts.granted.includes(host));
  const limits = limitPublished === undefined ? config.limits : limitPublished(config.limits);
  return { ...config, hosts: held, limits };
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

function faultOf({ message, pointer }: Fault): Fault {
  return pointer === undefined ? { message } : { message, pointer };
}

// --------------------------------------------------------------------------------- configuration

/** Refuses durations that make no sense together. */
function compileProjectSettings(project: Project, hosts: HostGrant): Result<ProjectSettings> {
  const { metadata, spec } = project;
  const faults: Fault[] = [];
  const seconds = (pointer: string, text: string): number => {
    const value = durationSeconds(text);
    if (value === undefined) faults.push({ pointer, message: `"${text}" is not a duration such as 5m or 1h30m` });
    return value ?? 0;
  };
  const accessTokenSeconds = seconds("/spec/sessions/accessTokenTTL", spec.sessions.accessTokenTTL);
  const refreshTokenSeconds = seconds("/spec/sessions/refreshTokenTTL", spec.sessions.refreshTokenTTL);
  const maxAgeSeconds = seconds("/spec/cors/maxAge", spec.cors.maxAge);
  if (faults.length === 0) faults.push(...sessionFaults(accessTokenSeconds, refreshTokenSeconds));
  if (faults.length > 0) return refuseAll("InvalidSpec", faults);
  const { maxBodyBytes, maxObjectBytes, maxDocumentBytes, maxPageSize, anonymousWritesPerMinute, quota } = spec.limits;
  const { maxPerUser, maxPerProject } = spec.sessions;
  const { allowedOrigins, allowHeaders } = spec.cors;
  const value: ProjectSettings = {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    authentication: spec.authentication.policy,
    serving: spec.serving,
    ...(spec.durability && { durability: spec.durability }),
    hosts: hosts.granted,
    sessions: { accessTokenSeconds, refreshTokenSeconds, maxPerUser, maxPerProject },
    limits: {
      ...{ maxBodyBytes, maxDocumentBytes, maxPageSize, anonymousWritesPerMinute },
      ...(maxObjectBytes !== undefined && { maxObjectBytes }),
      ...(quota && { quota }),
      ...ratesOf(spec.limits.rate),
    },
    cors: { allowedOrigins, ...(allowHeaders && { allowHeaders }), maxAgeSeconds },
    openapi: spec.openapi,
    console: spec.console,
  };
  return { ok: true, value };
}

/** A burst that isn't named is a second's worth. */
function ratesOf(rate: Project["spec"]["limits"]["rate"]): { readonly rate?: ProjectRates } {
  const withBurst = (given: NonNullable<typeof rate>["project"]): Rate | undefined =>
    given && { requestsPerSecond: given.requestsPerSecond, burst: given.burst ?? given.requestsPerSecond };
  const project = withBurst(rate?.project);
  const caller = withBurst(rate?.caller);
  return project || caller ? { rate: { ...(project && { project }), ...(caller && { caller }) } } : {};
}

function sessionFaults(accessTokenSeconds: number, refreshTokenSeconds: number): readonly Fault[] {
  if (accessTokenSeconds < 1) {
    return [{ pointer: "/spec/sessions/accessTokenTTL", message: "An access token must live for a second at least" }];
  }
  if (refreshTokenSeconds < accessTokenSeconds) {
    const message = "A refresh token must live as long as an access token at least";
    return [{ pointer: "/spec/sessions/refreshTokenTTL", message }];
  }
  return [];
}
