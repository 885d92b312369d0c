// Turns the valid objects into what is served, Project by Project: Secrets are resolved and written
// first, then everything is compiled against what was published before. One Project's errors do not
// affect another.

import type { CompiledProject, ProjectRef, SigningRing } from "../../../core/config/types.ts";
import type { Secret } from "../../../core/manifests/object.ts";
import { compileProject } from "../../../operator/compile/compile-project.ts";
import type { HeldSchemas } from "../../../operator/compile/held-schema.ts";
import { type HostGrant, noHosts } from "../../../operator/compile/hosts.ts";
import { issuerSourcesOf, pendingIssuers } from "../../../operator/compile/issuers.ts";
import type { CheckResource } from "../../../operator/compile/resource-check.ts";
import type { Credentials, LiveKeys, PasswordCredential, Resolved } from "../../../operator/model/credentials.ts";
import type { CustomResource } from "../../../operator/model/objects.ts";
import type { ProjectObjects } from "../../../operator/model/project-objects.ts";
import { keySecretName, signingSecretName, userHashSecretName } from "../../../operator/model/secret-names.ts";
import { type Result, refuse, type Verdict } from "../../../operator/model/verdict.ts";
import { readLiveKeys } from "../../../operator/resolve/key.ts";
import { writtenSecret } from "../../../operator/resolve/own-secret.ts";
import { type ProjectResolution, resolveProject } from "../../../operator/resolve/project.ts";
import {
  earliest,
  type FindSecret,
  type ResolveTools,
  type SecretWrite,
} from "../../../operator/resolve/resolution.ts";
import { readRing } from "../../../operator/resolve/signing.ts";
import { readStoredHash } from "../../../operator/resolve/user.ts";
import { grantHosts, groupByProject } from "../../manifests/projects.ts";
import { type DevState, liveManifest, storedObject } from "../data-folder/dev-state.ts";
import type { DevIssuers } from "./dev-issuers.ts";

/** By `<namespace>/<name>`. */
export type Published = ReadonlyMap<string, CompiledProject>;

export interface CompileTools extends Pick<ResolveTools, "hashPassword" | "random" | "hmacKey"> {
  readonly checkResource: CheckResource;
  readonly issuers: DevIssuers;
  readonly heldSchemas: HeldSchemas;
  readonly secretOf: (namespace: string, name: string) => Secret | undefined;
  readonly writeSecret: (write: SecretWrite) => Promise<void>;
  /** Unix milliseconds. */
  readonly now: number;
  readonly baseUrlOf: (ref: ProjectRef) => string;
}

export interface CompiledFolder {
  readonly published: Published;
  readonly verdicts: readonly Verdict[];
  /** By UID: what resolve wants remembered. */
  readonly statuses: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Projects whose signing keys were lost and created again. */
  readonly ringsReplaced: readonly ProjectRef[];
  /** Unix milliseconds: when another pass would give another result although nothing was edited. */
  readonly nextAt?: number;
}

/** A new signing key signs once every replica has it. This process is the only replica. */
const signingRingAgainMs = 500;

export async function compileFolder(known: DevState, before: Published, tools: CompileTools): Promise<CompiledFolder> {
  const objects = [...known.objects.values()].map((object) => storedObject(object, object.manifest));
  const grants = grantsOf(objects, before);
  const published = new Map<string, CompiledProject>();
  const verdicts: Verdict[] = [];
  const statuses = new Map<string, Readonly<Record<string, unknown>>>();
  const ringsReplaced: ProjectRef[] = [];
  const bundles = groupByProject(objects);
  await tools.issuers.useOnly(issuerSources(bundles, tools.issuers));
  const moments: (number | undefined)[] = [];
  const written = new Map<string, Secret>();
  for (const [key, bundle] of bundles) {
    const previous = before.get(key);
    const resolved = await resolveBundle(bundle, previous, { ...tools, written });
    for (const [uid, status] of resolved.statuses) statuses.set(uid, { ...status });
    if (resolved.ringReplaced) ringsReplaced.push(bundle.ref);
    moments.push(resolved.nextAt, resolved.signingRingWaits ? tools.now + signingRingAgainMs : undefined);
    const { signing, credentials } = resolved;
    const { checkResource, issuers, heldSchemas } = tools;
    const context = { signing, credentials, hosts: grantOf(bundle, grants), checkResource, issuers, heldSchemas };
    const compiled = compileProject({ ...bundle, ...context, ...(previous !== undefined && { published: previous }) });
    if (compiled.config !== undefined) published.set(key, withConsole(compiled.config));
    verdicts.push(...compiled.verdicts);
  }
  const nextAt = earliest(moments, tools.now);
  return { published, verdicts, statuses, ringsReplaced, ...(nextAt !== undefined && { nextAt }) };
}

function issuerSources(bundles: ReadonlyMap<string, ProjectObjects>, { isAllowed }: DevIssuers) {
  return new Map(
    [...bundles].flatMap(([key, { project }]) =>
      project === undefined ? [] : [[key, issuerSourcesOf(project, isAllowed)] as const],
    ),
  );
}

interface BundleTools extends CompileTools {
  /** Written in this pass, by `<namespace>/<name>`: Projects of one may need the same Secret. */
  readonly written: Map<string, Secret>;
}

/** Resolves, and writes what that takes. */
async function resolveBundle(
  bundle: ProjectObjects,
  previous: CompiledProject | undefined,
  { written, ...tools }: BundleTools,
): Promise<ProjectResolution> {
  const findSecret = finderOf(bundle, tools);
  const resolved = await resolveProject(bundle, previous, {
    findSecret: (name) => written.get(`${bundle.ref.namespace}/${name}`) ?? findSecret(name),
    random: tools.random,
    now: tools.now,
    hashPassword: tools.hashPassword,
    baseUrl: tools.baseUrlOf(bundle.ref),
    // Whoever can write the data folder may have every credential in it: nothing has to be proved.
    hmacKey: tools.hmacKey,
    restoresAll: true,
    // One process: what was published before is what every replica serves.
    ringAcknowledged: true,
  });
  for (const write of resolved.writes) {
    await tools.writeSecret(write);
    written.set(`${write.namespace}/${write.name}`, writtenSecret(write));
  }
  return resolved;
}

/**
 * What was served when dev mode stopped, from the last good versions and the stored hashes.
 * Projects keep the names that they have, and an edit that was broken before a restart stays
 * broken, with the version before it served.
 */
export function recallFolder(known: DevState, tools: Pick<CompileTools, "checkResource" | "secretOf">): Published {
  const objects = [...known.objects.values()].flatMap((object) => {
    const manifest = liveManifest(object);
    return manifest === undefined ? [] : [storedObject(object, manifest)];
  });
  const grants = grantsOf(objects, new Map());
  const published = new Map<string, CompiledProject>();
  for (const [key, bundle] of groupByProject(objects)) {
    const recalled = recallProject(bundle, finderOf(bundle, tools));
    const { config } = compileProject({
      ...bundle,
      ...recalled,
      hosts: grantOf(bundle, grants),
      // Their keys are fetched again with the first pass.
      issuers: pendingIssuers,
      checkResource: tools.checkResource,
    });
    if (config !== undefined) published.set(key, withConsole(config));
  }
  return published;
}

/** In dev mode every Project has its console for those who may sign in: people open it first. */
function withConsole(config: CompiledProject): CompiledProject {
  const { project } = config;
  return project.console === "Nobody" ? { ...config, project: { ...project, console: "Authenticated" } } : config;
}

function grantsOf(objects: readonly CustomResource[], before: Published): ReadonlyMap<string, HostGrant> {
  const incumbents = new Map<string, string>();
  for (const { project } of before.values()) for (const host of project.hosts) incumbents.set(host, project.uid);
  const projects = objects.filter((object) => object.kind === "Project");
  return grantHosts(projects, incumbents);
}

function grantOf({ project }: ProjectObjects, grants: ReadonlyMap<string, HostGrant>): HostGrant {
  return (project && grants.get(project.metadata.uid)) ?? noHosts;
}

function finderOf({ ref }: ProjectObjects, { secretOf }: Pick<CompileTools, "secretOf">): FindSecret {
  return (name) => secretOf(ref.namespace, name);
}

export interface RecalledProject {
  readonly signing: Result<SigningRing>;
  readonly credentials: Credentials;
}

function recallProject({ project, users, keys }: ProjectObjects, findSecret: FindSecret): RecalledProject {
  const ring = project === undefined ? undefined : readRing(findSecret(signingSecretName(project)));
  const recalledUsers = new Map<string, Resolved<PasswordCredential>>();
  const recalledKeys = new Map<string, Resolved<LiveKeys>>();
  for (const owner of users) {
    const stored = readStoredHash(findSecret(userHashSecretName(owner)));
    const value = stored && { passwordHash: stored.hash, credentialRevision: stored.revision };
    recalledUsers.set(owner.metadata.name, value === undefined ? forgotten() : { ok: true, value });
  }
  for (const owner of keys) {
    const value = readLiveKeys(findSecret(keySecretName(owner)));
    recalledKeys.set(owner.metadata.name, value === undefined ? forgotten() : { ok: true, value });
  }
  const signing: Result<SigningRing> = ring === undefined ? forgotten() : { ok: true, value: ring };
  return { signing, credentials: { users: recalledUsers, keys: recalledKeys } };
}

function forgotten(): ReturnType<typeof refuse> {
  return refuse("SecretNotFound", "Nothing is remembered");
}
