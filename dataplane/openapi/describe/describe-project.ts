// Turns a live project into its OpenAPI 3.1 document: the operations that its policies allow, with
// the schemas of its resources. Pure. The address is added later, because a project has several. It
// runs in steps, because a large project takes a while.

import type { IssuerConfig, JsonObject, Operation, ResourceConfig } from "../../../core/config/types.ts";
import { parseJson } from "../../../core/json/parse-json.ts";
import { sampleObject } from "../../../core/schema/sample-object.ts";
import { exportMediaType } from "../../../core/transfer/lines.ts";
import type { LiveProject, LiveResource } from "../../config/directory.ts";
import { Components, refTo } from "./components.ts";
import { fieldsParameter, listParameters } from "./list-parameters.ts";
import {
  fixedOperations,
  json,
  type OperationEntry,
  partOperations,
  rootOperations,
  type Shape,
  type SuccessAnswer,
} from "./operations.ts";
import {
  type CallerTerms,
  callerTerms,
  type Policies,
  permissionOf,
  preconditionProblems,
  rateProblems,
} from "./policies.ts";
import { type ProblemSource, problemResponses, rateHeaders } from "./problems.ts";
import { addResourceSchemas } from "./resource-schemas.ts";
import {
  issuerSchemes,
  requestHeaders,
  securitySchemes,
  sharedHeaders,
  sharedParameters,
  sharedSchemas,
  withIssuers,
} from "./shared-parts.ts";

import { exportOperations, exportParameters, importOperations, importParameters } from "./transfer-operations.ts";
import { operationsOf, upsertParameters } from "./unique-rules.ts";

/** Characters of the schemas as given; the document has most of them three times. */
const maxCharacters = 4 * 1024 * 1024;
const charactersWithoutSchema = 8 * 1024;

/** The document but for `openapi` and `servers`. */
export function* describeProject(project: LiveProject): Generator<void, JsonObject> {
  const components = new Components();
  for (const [name, schema] of Object.entries(sharedSchemas)) components.add("schemas", name, schema);
  for (const [name, header] of Object.entries(sharedHeaders)) components.add("headers", name, header);
  for (const [name, parameter] of Object.entries({ ...sharedParameters, ...requestHeaders }))
    components.add("parameters", name, parameter);
  const paths = new Map<string, JsonObject>();
  const issuers = issuersOf(project);
  const tags: JsonObject[] = [];
  let room = maxCharacters;
  for (const whole of byName(project.resources)) {
    room -= charactersWithoutSchema + JSON.stringify(whole.config.schema).length;
    const resource = room < 0 ? withoutSchema(whole) : whole;
    const sentences = [descriptionOf(resource.config.schema), expirySentence(resource.config)].filter(Boolean);
    const description = sentences.length > 0 && { description: sentences.join("\n\n") };
    tags.push({ name: `api/${resource.config.name}`, ...description });
    describeResource(project, resource, { components, paths });
    yield;
  }
  for (const rootKey of byName(project.rootKeys)) {
    tags.push({
      name: `json/${rootKey.key}`,
      description: "A JSON value of any shape, which is read and changed by paths.",
    });
    const policies = { project: project.config, issuers, access: rootKey.access, hasReadOnlyObjects: false };
    const hasChanges = rootKey.changes !== undefined;
    const section = { tag: `json/${rootKey.key}`, id: `json.${rootKey.key}`, shapes: {}, hasChanges };
    const context = { components, policies, ...section };
    const path = `/json/${rootKey.key}`;
    put(paths, path, pathItem(rootOperations, context));
    put(paths, `${path}/{path}`, pathItem(partOperations, { ...context, parameters: ["Path"] }));
    yield;
  }
  tags.push({ name: "data", description: "Everything that is stored, for other places." });
  put(paths, "/export", pathItem(exportOperations, dataContext(project, components)));
  put(paths, "/import", pathItem(importOperations, dataContext(project, components)));
  tags.push({ name: "sessions", description: "Log in, stay logged in, log out." });
  describeFixed(project, { components, paths });
  return {
    info: {
      title: project.config.name,
      version: "1",
      description: introduction(project),
      "x-jsonplane-serving": project.config.serving,
    },
    tags,
    paths: Object.fromEntries(paths),
    components: { ...components.toJson(), securitySchemes: { ...securitySchemes, ...issuerSchemes(issuers) } },
  };
}

/** What is described of a resource when the document would become too large for its readers. */
function withoutSchema({ config, schema, revision }: LiveResource): LiveResource {
  const description = "The schemas of the project are too large to be shown together, so this one is left out.";
  return {
    config: { ...config, schema: { type: "object", description } },
    schema: { ...schema, properties: new Map() },
    revision,
  };
}

interface Draft {
  readonly components: Components;
  readonly paths: Map<string, JsonObject>;
}

interface PathContext {
  readonly components: Components;
  readonly policies: Policies;
  readonly tag: string;
  /** Beginning of operationIds. */
  readonly id: string;
  readonly parameters?: readonly string[];
  readonly queries?: Partial<Readonly<Record<NonNullable<OperationEntry["queries"]>, readonly JsonObject[]>>>;
  /** References to the schemas of a resource. */
  readonly shapes: Partial<Readonly<Record<Shape, JsonObject>>>;
  readonly examples?: Partial<Readonly<Record<Shape, JsonObject>>>;
  readonly note?: string;
  /** Clients can follow what reads show. */
  readonly hasChanges: boolean;
}

function describeResource(project: LiveProject, resource: LiveResource, { components, paths }: Draft): void {
  const { name, schema, access, scope } = resource.config;
  const schemas = addResourceSchemas(components, resource);
  const isScoped = project.config.authentication === "Enabled";
  const sample = sampleObject(schema, resource.schema);
  const policies = {
    project: project.config,
    issuers: issuersOf(project),
    access,
    hasReadOnlyObjects: isScoped && scope.write === "Own" && scope.read === "All",
  };
  const context: PathContext = {
    components,
    policies,
    tag: `api/${name}`,
    id: `api.${name}`,
    queries: {
      list: listParameters(resource, project.config.limits),
      object: [fieldsParameter],
      upsert: upsertParameters(resource),
    },
    shapes: { ...schemas },
    ...(sample !== undefined && { examples: examplesOf(parseJson(sample) as JsonObject) }),
    ...(isScoped && { note: scopeNote(scope) }),
    hasChanges: resource.config.changes !== undefined,
  };
  const path = `/api/${name}`;
  const operations = operationsOf(resource);
  put(paths, path, pathItem(operations.collection, context));
  put(paths, `${path}/{id}`, pathItem(operations.object, { ...context, parameters: ["Id"] }));
}

/** Of what administrators do with all data at once. */
function dataContext(project: LiveProject, components: Components): PathContext {
  const only = "Administrators";
  const access = { create: only, read: only, update: only, delete: only } as const;
  const policies = { project: project.config, issuers: issuersOf(project), access, hasReadOnlyObjects: false };
  const queries = { export: exportParameters, import: importParameters };
  return { components, policies, tag: "data", id: "data", queries, shapes: {}, hasChanges: false };
}

function describeFixed(project: LiveProject, { components, paths }: Draft): void {
  const rates = rateProblems(project.config);
  const issuers = issuersOf(project);
  for (const { path, security: own, parameters = [], ...entry } of fixedOperations) {
    const security = withIssuers(own, issuers);
    // Where tokens of issuers are taken, some may have to wait until their signatures are verified.
    const waits: readonly ProblemSource[] = security.length === own.length ? [] : ["fairShare"];
    const problems = [...rates, ...waits];
    const context = { components, tag: "sessions", id: "sessions", shapes: {}, hasChanges: false };
    const described = {
      ...operation(entry, context, { security, problems, sentence: "", isForUsers: false }),
      security,
    };
    const before = paths.get(path) ?? { ...parameterList(parameters) };
    paths.set(path, { ...before, [entry.method]: described });
  }
}

/** The operations that somebody may do; undefined when there is none. */
function pathItem(entries: readonly OperationEntry[], context: PathContext): JsonObject | undefined {
  const offered = entries.flatMap((entry): [string, JsonObject][] => {
    if (entry.operation === undefined) return [];
    const terms = callerTerms(context.policies, entry.operation, entry.needs ?? []);
    if (terms === undefined) return [];
    const isOwnOnly = context.policies.hasReadOnlyObjects && !["read", "create"].includes(entry.operation);
    const who = { "x-jsonplane-permission": terms.permission, ...(isOwnOnly && { "x-jsonplane-scope": "Own" }) };
    const own = { ...context, hasChanges: context.hasChanges && entry.method === "get" };
    return [[entry.method, { ...operation(entry, own, terms), ...who }]];
  });
  if (offered.length === 0) return undefined;
  return { ...parameterList(context.parameters ?? []), ...Object.fromEntries(offered) };
}

type SectionContext = Omit<PathContext, "policies"> & { readonly policies?: Policies };

function operation(entry: OperationEntry, context: SectionContext, terms: Omit<CallerTerms, "permission">): JsonObject {
  const isAllowed = (needed: Operation | undefined): boolean =>
    needed === undefined || context.policies === undefined || permissionOf(context.policies, needed) !== "Nobody";
  const answers = entry.answers.filter(({ needs }) => isAllowed(needs));
  const addsByRight = answers.some(({ needs }) => needs !== undefined);
  const mayBeForbidden = addsByRight && context.policies?.project.authentication === "Enabled";
  const sources: ProblemSource[] = ["everyRequest", ...entry.problems, ...terms.problems, ...bodyProblems(entry)];
  if (context.policies !== undefined && entry.takes?.includes("IfMatch") && entry.operation !== undefined) {
    sources.push(...preconditionProblems(context.policies, entry.operation));
  }
  // A PUT that adds a key needs the right to create.
  if (mayBeForbidden) sources.push("anonymousCaller", "insufficientAccess");
  const headers = (entry.takes ?? []).map((name) => refTo("parameters", name));
  const parameters = [...(entry.queries === undefined ? [] : (context.queries?.[entry.queries] ?? [])), ...headers];
  const note = terms.isForUsers ? context.note : undefined;
  const description = [entry.description, terms.sentence, note].filter(Boolean).join("\n\n");
  return {
    operationId: `${context.id}.${entry.name}`,
    summary: entry.summary,
    ...(description !== "" && { description }),
    tags: [context.tag],
    ...(parameters.length > 0 && { parameters }),
    ...(entry.body !== undefined && { requestBody: { required: true, content: content(entry.body, context) } }),
    responses: {
      ...Object.fromEntries(answers.map((answer) => [String(answer.status), success(answer, context, sources)])),
      ...problemResponses(context.components, sources),
    },
    security: terms.security,
  };
}

function bodyProblems({ body }: OperationEntry): readonly ProblemSource[] {
  if (body === undefined) return [];
  return exportMediaType in body ? ["lines"] : ["body"];
}

function success(
  { status, description, shape, type = json, headers = [] }: SuccessAnswer,
  context: SectionContext,
  sources: readonly ProblemSource[],
): JsonObject {
  const named = headers.map((name) => [name, refTo("headers", name)]);
  return {
    description,
    headers: {
      "X-Request-Id": refTo("headers", "RequestId"),
      ...Object.fromEntries(named),
      ...(sources.includes("rates") && rateHeaders),
      ...(context.hasChanges && status === 200 && changesHeader),
    },
    ...(shape !== undefined && { content: content({ [type]: shape }, context) }),
  };
}

const changesHeader = {
  "Changes-Position": {
    description:
      "From where to follow what was read: send it in `_position`, with `Accept: text/event-stream` or `Prefer: wait=20`.",
    schema: { type: "string" },
  },
};

function content(byType: Readonly<Record<string, Shape>>, { shapes, examples }: SectionContext): JsonObject {
  return Object.fromEntries(
    Object.entries(byType).map(([type, shape]) => {
      const empty = { type: "object", maxProperties: 0 };
      const schema = shape === "Empty" ? empty : (shapes[shape] ?? refTo("schemas", shape));
      const example = examples?.[shape];
      return [type, { schema, ...(example !== undefined && { example }) }];
    }),
  );
}

function examplesOf(sample: JsonObject): Partial<Readonly<Record<Shape, JsonObject>>> {
  const metadata = { created: 1_767_225_600, creator: "ada", creator_type: "user" };
  const stored = { id: "0198c9a2-7d4e-7c3a-9b1f-3f6f0c2d4e5a", ...sample, _metadata: metadata };
  const [first] = Object.entries(sample);
  const changes: JsonObject = first === undefined ? {} : { [first[0]]: first[1] };
  return { sent: sample, stored, changes, MergePatch: changes };
}

function parameterList(names: readonly string[]): JsonObject {
  return names.length === 0 ? {} : { parameters: names.map((name) => refTo("parameters", name)) };
}

function scopeNote({ read, write }: LiveResource["config"]["scope"]): string {
  if (read === "All" && write === "All") return "";
  const usersMay =
    read === "Own"
      ? "sees and changes only objects that the caller created"
      : "sees every object, but changes only objects that the caller created";
  return `The role Users ${usersMay}; the role Administrators reaches all objects.`;
}

function introduction({ config, issuers }: LiveProject): string {
  const who =
    config.authentication === "Disabled"
      ? "No credentials are needed."
      : `Send an API key (\`Authorization: apikey <API_KEY>\`), or log in and send \`Authorization: bearer <ACCESS_TOKEN>\`.${tokensOf(issuers)}`;
  const serving = config.serving === "ReadOnly" ? " The project is read-only: writes are refused." : "";
  return `${who}${serving}`;
}

function tokensOf(issuers: LiveProject["issuers"]): string {
  if (issuers.size === 0) return "";
  return " Tokens of other issuers are taken in the same header; the security schemes `issuer.<name>` say which.";
}

function descriptionOf({ title, description }: JsonObject): string | undefined {
  const text = description ?? title;
  return typeof text === "string" ? text : undefined;
}

function expirySentence({ expiry }: ResourceConfig): string | undefined {
  if (expiry === undefined) return undefined;
  const time =
    "field" in expiry ? `at the time in \`${expiry.field.name}\`` : `${expiry.afterSeconds} seconds after its creation`;
  return `An object expires ${time}: from then on it is not found, and it is deleted for good.`;
}

function put(paths: Map<string, JsonObject>, path: string, item: JsonObject | undefined): void {
  if (item !== undefined) paths.set(path, item);
}

/** In order of names; their map is by URL. */
function issuersOf({ issuers }: LiveProject): readonly IssuerConfig[] {
  return byName(new Map([...issuers.values()].map((issuer) => [issuer.name, issuer])));
}

/** By name, so that equal projects have equal documents on every replica. */
function byName<T>(all: ReadonlyMap<string, T>): readonly T[] {
  return [...all].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
}
