// `jsonplane validate DIR --against URL`: reads what a project has stored, page by page, and says
// how many objects the schemas of a folder would refuse. Throws ServiceRefused where that can't be
// known.

import { keyOfProject } from "../../core/config/config-keys.ts";
import { readMigration } from "../../core/config/migration.ts";
import { type CheckFigures, describeInvalid } from "../../core/config/object-check.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { ApiResource } from "../../core/manifests/generated/apiresource.generated.ts";
import type { Project } from "../../core/manifests/generated/project.generated.ts";
import type { Manifest } from "../../core/manifests/validate-manifest.ts";
import { idIn } from "../../core/object-id.ts";
import { compileSchema } from "../../core/schema/compile-schema.ts";
import { nothingChecked, withObject } from "../../dataplane/objects/check/check-step.ts";
import type { ObjectRules } from "../../dataplane/objects/validate-object.ts";
import { maxObjectBytes } from "../../dataplane/operation/plan.ts";
import { type CredentialFiles, credentialFrom } from "../service/credential.ts";
import { patiently } from "../service/patiently.ts";
import { createService, type ListedPage, type Service, ServiceRefused } from "../service/service.ts";

export interface CheckStoredOptions extends CredentialFiles {
  /** Base URL of a project, without a trailing slash. */
  readonly against: string;
  readonly fetch: typeof fetch;
}

/**
 * How many objects would be invalid; `out` takes a line for each ApiResource of the project, and
 * for examples.
 */
export async function checkStored(
  manifests: readonly Manifest[],
  options: CheckStoredOptions,
  out: (line: string) => void,
): Promise<number> {
  const service = createService({
    fetch: options.fetch,
    authorization: credentialFrom(options),
  });
  const { against } = options;
  const resources = manifests.filter((manifest): manifest is ApiResource => manifest.kind === "ApiResource");
  const ref = projectAt(against, resources.map(projectOf));
  const own = resources.filter((resource) => keyOfProject(projectOf(resource)) === keyOfProject(ref));
  const project = manifests.find(
    (each): each is Project => each.kind === "Project" && keyOfProject(each.metadata) === keyOfProject(ref),
  );
  const role = await ownRole(service, against);
  if (project?.spec.authentication.policy !== "Disabled") requireAdministrator(role);
  let invalid = 0;
  for (const resource of own) {
    const name = resource.spec.resourceName ?? resource.metadata.name;
    const subject = `apiresource.jsonplane.io/${resource.metadata.name}`;
    const figures = await figuresOf(service, new URL(`${against}/api/${name}`), rulesOf(resource, project));
    for (const line of linesOf(subject, name, figures)) out(line);
    invalid += figures?.invalid ?? 0;
  }
  return invalid;
}

function projectOf({ metadata, spec }: ApiResource): ProjectRef {
  return { namespace: metadata.namespace, name: spec.projectRef.name };
}

/** Of the projects of the folder, the one that the URL names, or the only one. */
function projectAt(against: string, refs: readonly ProjectRef[]): ProjectRef {
  const all = [...new Map(refs.map((ref) => [keyOfProject(ref), ref])).values()];
  const [namespace, name] = new URL(against).pathname.split("/").slice(-2);
  const named = all.filter((ref) => ref.name === name);
  const exactly = named.filter((ref) => ref.namespace === namespace);
  for (const [only, ...others] of [exactly, named, all]) if (only !== undefined && others.length === 0) return only;
  const choice =
    all.length === 0
      ? "has no ApiResource"
      : `has several Projects: end the URL with one of ${all.map(keyOfProject).join(", ")}`;
  throw new ServiceRefused(`The folder ${choice}`);
}

/** Throws where the URL leads to no project, which must not pass for one that stores nothing. */
async function ownRole(service: Service, against: string): Promise<unknown> {
  const reply = await patiently(() => service.read(new URL(`${against}/whoami`), { Accept: "application/json" }));
  const said = parseOrUndefined(await reply.text()) as { readonly kind?: unknown; readonly role?: unknown } | undefined;
  if (typeof said?.kind !== "string") throw new ServiceRefused(`${against} is no project`);
  return said.role;
}

/** Anybody else may see a part of the objects, without knowing. */
function requireAdministrator(role: unknown): void {
  if (role === "Administrators") return;
  throw new ServiceRefused(
    "Only an administrator sees all objects: name a file with a key of role Administrators with --api-key-file",
  );
}

function rulesOf({ metadata, spec }: ApiResource, project: Project | undefined): ObjectRules {
  const result = compileSchema(spec.schema);
  if (!result.ok) throw new Error(`The schema of ${metadata.name} was valid before`);
  const migrate = spec.schemaChange?.migrate;
  const migration = migrate && readMigration(migrate);
  const maxBytes = project === undefined ? Number.POSITIVE_INFINITY : maxObjectBytes(project.spec.limits);
  return { schema: result.schema, migration, maxBytes };
}

/** `migratedId`: the first object that would be migrated. */
type Found = CheckFigures & { readonly migratedId?: string };

/** Undefined where the project has no such resource yet. */
async function figuresOf(service: Service, url: URL, rules: ObjectRules): Promise<Found | undefined> {
  let figures: Found = nothingChecked;
  let cursor: string | undefined = "";
  while (cursor !== undefined) {
    const page: ListedPage | undefined = await pageAt(service, url, cursor);
    if (page === undefined) return undefined;
    for (const { text } of page.objects) {
      const { migrated } = figures;
      figures = withObject(figures, rules, text);
      if (figures.migrated !== undefined && migrated === undefined) figures = { ...figures, migratedId: idIn(text) };
    }
    cursor = page.next;
  }
  return figures;
}

async function pageAt(service: Service, url: URL, cursor: string): Promise<ListedPage | undefined> {
  try {
    return await patiently(() => service.readPage(url, cursor));
  } catch (error) {
    if (error instanceof ServiceRefused && error.status === 404) return undefined;
    throw error;
  }
}

function linesOf(subject: string, resource: string, found: Found | undefined): readonly string[] {
  if (found === undefined) return [`${subject}: not served there yet`];
  const { checked, invalid, examples, migrated, migratedId } = found;
  if (checked === 0) return [`${subject}: no object is stored`];
  const migrates = `${migrated} would be migrated to it, such as /api/${resource}/${migratedId}`;
  if (invalid === 0) {
    const all = checked === 1 ? "the 1 stored object meets" : `all ${checked} stored objects meet`;
    return [`${subject}: ${all} the schema${migrated === undefined ? "" : `; ${migrates}`}`];
  }
  const shown = examples.map(({ id, pointer, keyword }) => `  /api/${resource}/${id}: ${pointer || "/"} (${keyword})`);
  const others = migrated === undefined ? [] : [`  ${migrates}`];
  return [`${subject}: ${describeInvalid(found)} the schema, such as`, ...shown, ...others];
}
