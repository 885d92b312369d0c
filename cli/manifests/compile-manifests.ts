// Finds what is wrong between objects, in Secrets and in JSON Schemas, by resolving and compiling
// the checked manifests as the operator does for a new namespace: a missing Project, a name, host
// or Secret claimed twice, a password or a schema that can't be used.
import { createSecretKey, randomBytes } from "node:crypto";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { CompiledProject, ProjectRef } from "../../core/config/types.ts";
import { apiVersion, type Secret } from "../../core/manifests/object.ts";
import { validateManifest } from "../../core/manifests/validate-manifest.ts";
import { generatedPasswordCost, hashPassword } from "../../core/password/hash-password.ts";
import { compileProject } from "../../operator/compile/compile-project.ts";
import { noHosts } from "../../operator/compile/hosts.ts";
import { createResourceCheck } from "../../operator/compile/resource-check.ts";
import type { IssuersContext } from "../../operator/model/issuers.ts";
import type { CustomResource, Project } from "../../operator/model/objects.ts";
import { childrenOf, type ProjectObjects, projectRefOf } from "../../operator/model/project-objects.ts";
import { signingSecretName } from "../../operator/model/secret-names.ts";
import type { Fault, Refusal, Verdict } from "../../operator/model/verdict.ts";
import { writtenSecret } from "../../operator/resolve/own-secret.ts";
import { type ProjectResolution, type ProjectTools, resolveProject } from "../../operator/resolve/project.ts";
import type { FindSecret } from "../../operator/resolve/resolution.ts";
import { sourceOf } from "../../operator/stored-data/copy-plan.ts";
import { absentSecret } from "./absent-secret.ts";
import { type CheckedManifest, type CheckedManifests, hidesObjects, located, sizeNote } from "./check-manifests.ts";
import { planFolderCopy, projectsByKey } from "./folder-copies.ts";
import { issuerWarnings } from "./issuer-warnings.ts";
import { missingProject, referrerOf } from "./missing-project.ts";
import { grantHosts, groupByProject } from "./projects.ts";
import type { SourcedObject, SourceNote, SourceProblem } from "./source.ts";

interface Findings {
  readonly problems: readonly SourceProblem[];
  readonly notes: readonly SourceNote[];
}

export interface CompiledManifests extends Findings {
  /** As they would be served, but without signing keys. By `<namespace>/<name>`. */
  readonly configs: ReadonlyMap<string, CompiledProject>;
}

export async function compileManifests(checked: CheckedManifests): Promise<CompiledManifests> {
  const sources = new Map(checked.manifests.map(({ source }) => [source.subject, source]));
  const objects = checked.manifests.map(({ manifest, source }) => stored(manifest, source.subject));
  const ownProjects = objects.filter(isProject);
  const hosts = grantHosts(ownProjects, new Map());
  const projects = ownProjects.map(projectRefOf);
  const secrets = new Map(checked.secrets.map(({ secret }) => [keyOfProject(secret.metadata), secret]));
  const checkResource = createResourceCheck();
  const all: Findings[] = [];
  const configs = new Map<string, CompiledProject>();
  for (const [key, bundle] of groupByProject(objects)) {
    const project = bundle.project ?? standIn(bundle.ref);
    const resolved = await resolve({ ...bundle, project }, secrets);
    const compiled = compileProject({
      ...bundle,
      project,
      credentials: resolved.credentials,
      // A Project without keys is refused by itself. What is wrong with its children is reported as
      // well.
      signing: { ok: true, value: { keys: [] } },
      hosts: hosts.get(project.metadata.uid) ?? noHosts,
      issuers: everyIssuer,
      checkResource,
    });
    if (compiled.config !== undefined) configs.set(key, compiled.config);
    if (bundle.project === undefined) all.push(absentProject(bundle, { sources, checked, projects }));
    if (!resolved.signing.ok) all.push(problemsOf(resolved.signing.refusal, sources.get(project.metadata.uid)));
    all.push(...compiled.verdicts.map((verdict) => resultOf(verdict, { sources, checked })));
  }
  const isWhole = checked.problems.length === 0 && all.every(({ problems }) => problems.length === 0);
  all.push(...copyProblems({ projects: projectsByKey(ownProjects), configs, sources, isWhole }));
  const sized = [...checked.manifests, ...checked.secrets].flatMap(({ source }) => {
    const detail = sizeNote(source.object);
    return detail === undefined ? [] : [located(source, { pointer: "", detail })];
  });
  all.push({ problems: [], notes: sized });
  all.push({ problems: [], notes: checked.manifests.flatMap((each) => issuerWarnings(each, "any cluster")) });
  return { problems: all.flatMap((each) => each.problems), notes: all.flatMap((each) => each.notes), configs };
}

interface Folder {
  readonly projects: ReadonlyMap<string, Project>;
  readonly configs: ReadonlyMap<string, CompiledProject>;
  readonly sources: ReadonlyMap<string, SourcedObject>;
  /** Nothing of it was refused. */
  readonly isWhole: boolean;
}

/**
 * Why nothing can be copied into a Project, as its condition Populated would say. The Project to
 * copy from may stand in the cluster, and what that lacks in a manifest that was refused.
 */
function copyProblems({ projects, configs, sources, isWhole }: Folder): readonly Findings[] {
  return [...projects.values()].flatMap((project) => {
    if (project.spec.dataSourceRef === undefined || !projects.has(keyOfProject(sourceOf(project)))) return [];
    const { why } = planFolderCopy(project, projects, configs);
    if (why === undefined || !(isWhole || why.reason === "InvalidSpec")) return [];
    return [problemsOf({ reason: why.reason, faults: [why] }, sources.get(project.metadata.uid))];
  });
}

/** By `<namespace>/<name>`. */
type Secrets = Map<string, Secret>;

/** Adds to `secrets` what is written: Projects of one namespace may need the same Secret. */
async function resolve(
  bundle: ProjectObjects & { readonly project: Project },
  secrets: Secrets,
): Promise<ProjectResolution> {
  const { namespace } = bundle.ref;
  const resolveWith = (findSecret: FindSecret): Promise<ProjectResolution> =>
    resolveProject(bundle, undefined, { ...tools, findSecret });
  const findSecret: FindSecret = (name) => secrets.get(`${namespace}/${name}`);
  const resolved = await resolveWith(findSecret);
  const own = signingSecretName(bundle.project);
  const { signing } = resolved;
  const children = signing.ok ? resolved : await resolveWith((name) => (name === own ? undefined : findSecret(name)));
  for (const write of children.writes) {
    const key = `${namespace}/${write.name}`;
    if (!secrets.has(key)) secrets.set(key, writtenSecret(write));
  }
  return { ...children, signing };
}

/** Passwords are hashed at the cost of generated ones: only whether they can be used matters. */
const tools: Omit<ProjectTools, "findSecret"> = {
  random: randomBytes,
  now: 0,
  hashPassword: (password) => hashPassword(password, generatedPasswordCost),
  baseUrl: "",
  // Nothing is stored that an earlier seal could prove.
  hmacKey: createSecretKey(randomBytes(32)),
  restoresAll: false,
  ringAcknowledged: true,
};

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

const nothing: Findings = { problems: [], notes: [] };

interface ResultContext {
  readonly sources: ReadonlyMap<string, SourcedObject>;
  readonly checked: CheckedManifests;
}

function resultOf(verdict: Verdict, { sources, checked }: ResultContext): Findings {
  const source = sources.get(verdict.uid);
  if (source === undefined) return nothing;
  if (!verdict.accepted) {
    const absent = absentSecret(verdict, source.object, checked.problems);
    if (absent === undefined) return problemsOf(verdict, source);
    const { pointer, key, refused } = absent;
    // One that has no manifest may stand in the cluster.
    const detail = `Secret ${key} is not among these manifests: until it exists, the user can't log in`;
    return { problems: [], notes: [located(source, { pointer, detail: refused ?? detail })] };
  }
  const notes = verdict.notices.map((notice) => ({
    ...located(source, faultAt(notice)),
    ...(notice.reason === "SchemaWarning" && ({ isWarning: true } as const)),
  }));
  return { problems: [], notes };
}

function problemsOf({ faults }: Refusal, source: SourcedObject | undefined): Findings {
  if (source === undefined) return nothing;
  return { problems: faults.map((fault) => located(source, faultAt(fault))), notes: [] };
}

function faultAt({ pointer = "", message }: Fault): { readonly pointer: string; readonly detail: string } {
  return { pointer, detail: message };
}

interface AbsentProjectContext {
  readonly sources: ReadonlyMap<string, SourcedObject>;
  readonly checked: CheckedManifests;
  /** Those that are there. */
  readonly projects: readonly ProjectRef[];
}

/** Says once that the Project is missing, unless it may be there and have problems of its own. */
function absentProject(bundle: ProjectObjects, { sources, checked, projects }: AbsentProjectContext): Findings {
  const { namespace, name } = bundle.ref;
  const isInvalid = checked.problems.some(({ subject }) => subject === `Project/${namespace}/${name}`);
  // It may be in what can't be read.
  if (isInvalid || checked.problems.some(hidesObjects)) return nothing;
  const [first, ...others] = childrenOf(bundle).flatMap((child) => {
    const source = sources.get(child.metadata.uid);
    return source === undefined ? [] : [referrerOf(source)];
  });
  if (first === undefined) return nothing;
  return { problems: [missingProject(bundle.ref, [first, ...others], projects)], notes: [] };
}
