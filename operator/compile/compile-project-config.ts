// Turns a Project's spec into the configuration of the project itself; refuses durations that make no sense together.
// A host that it may not have costs it that host and nothing else.

import { durationSeconds } from "../../core/config/duration.ts";
import type { ProjectConfig, ProjectRates, Rate } from "../../core/config/types.ts";
import type { Project } from "../model/objects.ts";
import { type Fault, type Result, refuseAll } from "../model/verdict.ts";
import type { HostGrant } from "./hosts.ts";

export function compileProjectConfig(project: Project, hosts: HostGrant): Result<ProjectConfig> {
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
  const value: ProjectConfig = {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    authentication: spec.authentication.policy,
    serving: spec.serving,
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
  const whole = (given: NonNullable<typeof rate>["project"]): Rate | undefined =>
    given && { requestsPerSecond: given.requestsPerSecond, burst: given.burst ?? given.requestsPerSecond };
  const project = whole(rate?.project);
  const caller = whole(rate?.caller);
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
