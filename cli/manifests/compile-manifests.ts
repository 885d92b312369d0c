// Finds what is wrong between objects, and in JSON Schemas, by compiling the checked manifests as the operator would: a
// Project that is missing, a name or a host claimed twice, a schema that can't be used. Secrets count as resolved.
import type { ProjectRef } from "../../core/config/types.ts";
import { apiVersion } from "../../core/manifests/object.ts";
import { validateManifest } from "../../core/manifests/validate-manifest.ts";
import { compileProject } from "../../operator/compile/compile-project.ts";
import { noHosts } from "../../operator/compile/hosts.ts";
import { createResourceCheck } from "../../operator/compile/resource-check.ts";
import type { Credentials } from "../../operator/model/credentials.ts";
import type { IssuersContext } from "../../operator/model/issuers.ts";
import type { CustomResource, Project } from "../../operator/model/objects.ts";
import { childrenOf, type ProjectObjects, projectRefOf } from "../../operator/model/project-objects.ts";
import type { Fault, Verdict } from "../../operator/model/verdict.ts";
import { type CheckedManifest, type CheckedManifests, located } from "./check-manifests.ts";
import { issuerWarnings } from "./issuer-warnings.ts";
import { missingProject, referrerOf } from "./missing-project.ts";
import { grantHosts, groupByProject } from "./projects.ts";
import type { SourcedObject, SourceNote, SourceProblem } from "./source.ts";

export interface CompiledManifests {
  readonly problems: readonly SourceProblem[];
  readonly notes: readonly SourceNote[];
}

export function compileManifests(checked: CheckedManifests): CompiledManifests {
  const sources = new Map(checked.manifests.map(({ source }) => [source.subject, source]));
  const objects = checked.manifests.map(({ manifest, source }) => stored(manifest, source.subject));
  const hosts = grantHosts(objects.filter(isProject), new Map());
  const projects = objects.filter(isProject).map(projectRefOf);
  const checkResource = createResourceCheck();
  const perProject = Array.from(groupByProject(objects).values()).flatMap((bundle) => {
    const project = bundle.project ?? standIn(bundle.ref);
    const compiled = compileProject({
      ...bundle,
      project,
      credentials: everyCredential(bundle),
      signing: { ok: true, value: { keys: [] } },
      hosts: hosts.get(project.metadata.uid) ?? noHosts,
      issuers: everyIssuer,
      checkResource,
    });
    const results = compiled.verdicts.map((verdict) => resultOf(verdict, sources));
    return bundle.project === undefined ? [absentProject(bundle, { sources, checked, projects }), ...results] : results;
  });
  const all = [
    ...perProject,
    ...checked.manifests.map((entry) => checkSecretRef(entry, checked)),
    { problems: [], notes: checked.manifests.flatMap((each) => issuerWarnings(each, "any cluster")) },
  ];
  return { problems: all.flatMap((each) => each.problems), notes: all.flatMap((each) => each.notes) };
}

/** Children of a missing Project are checked as well, so that all mistakes are reported at once. */
function standIn({ namespace, name }: ProjectRef): Project {
  const result = validateManifest({ apiVersion, kind: "Project", metadata: { namespace, name } });
  if (!result.ok) throw new Error(`Project ${namespace}/${name} has no valid default`);
  const project = stored(result.object, "");
  if (!isProject(project)) throw new Error("A Project became something else");
  return project;
}

/** As a cluster would give it back; a suspended Project is checked as if it were not suspended. */
function stored(manifest: CheckedManifest["manifest"], uid: string): CustomResource {
  const metadata = { ...manifest.metadata, uid, creationTimestamp: "1970-01-01T00:00:00Z" };
  if (manifest.kind !== "Project") return { ...manifest, metadata };
  return { ...manifest, metadata, spec: { ...manifest.spec, suspend: false } };
}

function isProject(object: CustomResource): object is Project {
  return object.kind === "Project";
}

/** Nothing is fetched, and which issuers a platform allows is not known here. */
const everyIssuer: IssuersContext = { isAllowed: () => true, lookUp: () => ({ state: "assumed" }) };

function everyCredential({ users, keys }: ProjectObjects): Credentials {
  const password = { ok: true, value: { passwordHash: "", credentialRevision: "" } } as const;
  return {
    users: new Map(users.map(({ metadata }) => [metadata.name, password])),
    keys: new Map(keys.map(({ metadata }) => [metadata.name, { ok: true, value: [{ sha256: metadata.uid }] }])),
  };
}

const nothing: CompiledManifests = { problems: [], notes: [] };

function resultOf(verdict: Verdict, sources: ReadonlyMap<string, SourcedObject>): CompiledManifests {
  const source = sources.get(verdict.uid);
  if (source === undefined) return nothing;
  const at = ({ pointer = "", message }: Fault) => located(source, { pointer, detail: message });
  if (!verdict.accepted) return { problems: verdict.faults.map(at), notes: [] };
  const notes = verdict.notices.map((notice) => ({
    ...at(notice),
    ...(notice.reason === "SchemaWarning" && ({ isWarning: true } as const)),
  }));
  return { problems: [], notes };
}

interface AbsentProjectContext {
  readonly sources: ReadonlyMap<string, SourcedObject>;
  readonly checked: CheckedManifests;
  /** Those that are there. */
  readonly projects: readonly ProjectRef[];
}

/** Says once that the Project is missing, unless it is there and has problems of its own. */
function absentProject(
  bundle: ProjectObjects,
  { sources, checked, projects }: AbsentProjectContext,
): CompiledManifests {
  const { namespace, name } = bundle.ref;
  if (checked.problems.some(({ subject }) => subject === `Project/${namespace}/${name}`)) return nothing;
  const [first, ...others] = childrenOf(bundle).flatMap((child) => {
    const source = sources.get(child.metadata.uid);
    return source === undefined ? [] : [referrerOf(source)];
  });
  if (first === undefined) return nothing;
  return { problems: [missingProject(bundle.ref, [first, ...others], projects)], notes: [] };
}

/** A Secret among the manifests must have the entry; one that is not there may stand in the cluster. */
function checkSecretRef({ manifest, source }: CheckedManifest, { secrets }: CheckedManifests): CompiledManifests {
  if (manifest.kind !== "ProjectUser" || manifest.spec.passwordSecretRef === undefined) return nothing;
  const { name, key } = manifest.spec.passwordSecretRef;
  const { namespace } = manifest.metadata;
  const found = secrets.find(({ secret: { metadata } }) => metadata.namespace === namespace && metadata.name === name);
  if (found === undefined) {
    const detail = `Secret ${namespace}/${name} is not among these manifests: until it exists, the user can't log in`;
    return { problems: [], notes: [located(source, { pointer: "/spec/passwordSecretRef/name", detail })] };
  }
  const entry = found.secret.data.get(key);
  if (entry !== undefined && entry.length > 0) return nothing;
  const detail = `Secret ${namespace}/${name} has no entry ${JSON.stringify(key)}, or an empty one`;
  return { problems: [located(source, { pointer: "/spec/passwordSecretRef/key", detail })], notes: [] };
}
