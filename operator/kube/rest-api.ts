// The port KubeApi over HTTP: raw JSON in and out, because typed models drop what they don't know.

import type { JsonObject } from "../../core/config/types.ts";
import { failure, objectToKeep, parsed } from "./answers.ts";
import {
  ApiUnreachable,
  type CallOptions,
  isNotFound,
  type KubeApi,
  type KubeObject,
  type ListPage,
  type ListRequest,
  type ObjectName,
  type ResourceType,
  type WatchEvent,
} from "./api.ts";
import {
  type ApiRequest,
  createHttpTransport,
  type HttpTransport,
  type HttpTransportOptions,
} from "./http-transport.ts";
import { fieldManager } from "./objects.ts";

const json = "application/json";

export function createRestApi(options: HttpTransportOptions): KubeApi {
  const transport = createHttpTransport(options);
  const object = async (request: ApiRequest, call: CallOptions | undefined): Promise<KubeObject> => {
    const text = await transport.call(request, call);
    return objectToKeep(parsed(text, `${request.verb} ${request.type.plural}`) as KubeObject);
  };
  return {
    list: (type, request, call) => list(transport, type, request, call),
    watch: (type, { resourceVersion, timeoutSeconds, labelSelector, fieldSelector, ...scope }, call) => {
      const selectors = { labelSelector, fieldSelector };
      const query = { watch: 1, allowWatchBookmarks: "true", resourceVersion, timeoutSeconds, ...selectors };
      const request: ApiRequest = {
        verb: "watch",
        method: "GET",
        type,
        path: `${collectionPath(type, scope.namespace)}${queryText(query)}`,
        accept: scope.metadataOnly === true ? partial("PartialObjectMetadata") : json,
      };
      return eventsOf(linesOf(transport.stream(request, call)), type);
    },
    getDocument: (path, call) => {
      // Counted by its path, as RBAC names it.
      const type: ResourceType = { group: "", version: "", plural: path, kind: "" };
      return transport.call({ verb: "get", method: "GET", type, path, accept: "*/*" }, call);
    },
    get: (type, name, call) =>
      orNone(object({ verb: "get", method: "GET", type, path: objectPath(type, name), accept: json }, call)),
    create: (type, given, call) => {
      const path = collectionPath(type, nameOf(given).namespace);
      return object({ verb: "create", method: "POST", type, path, ...sent(given) }, call);
    },
    replace: (type, given, call) => {
      const path = objectPath(type, nameOf(given));
      return object({ verb: "update", method: "PUT", type, path, ...sent(given) }, call);
    },
    apply: (type, given, { subresource, ...call } = {}) => {
      const request: ApiRequest = {
        verb: "patch",
        method: "PATCH",
        type,
        ...(subresource !== undefined && { subresource }),
        path: `${objectPath(type, nameOf(given), subresource)}${queryText({ fieldManager, force: "true" })}`,
        ...sent(given, "application/apply-patch+yaml"),
      };
      return object(request, call);
    },
    async remove(type, name, preconditions, call) {
      const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { ...preconditions } };
      const path = objectPath(type, name);
      const request: ApiRequest = { verb: "delete", method: "DELETE", type, path, ...sent(body) };
      return (await orNone(transport.call(request, call))) !== undefined;
    },
    close: () => transport.close(),
  };
}

async function list(
  transport: HttpTransport,
  type: ResourceType,
  { limit, continue: token, labelSelector, fieldSelector, ...scope }: ListRequest,
  call: CallOptions | undefined,
): Promise<ListPage> {
  const query = queryText({ limit, continue: token, labelSelector, fieldSelector });
  const request: ApiRequest = {
    verb: "list",
    method: "GET",
    type,
    path: `${collectionPath(type, scope.namespace)}${query}`,
    accept: scope.metadataOnly === true ? partial("PartialObjectMetadataList") : json,
  };
  const page = parsed(await transport.call(request, call), `list ${type.plural}`) as {
    readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
    readonly items: readonly KubeObject[] | null;
  };
  const further = page.metadata.continue;
  return {
    items: (page.items ?? []).map(objectToKeep),
    resourceVersion: page.metadata.resourceVersion,
    ...(further !== undefined && further !== "" && { continue: further }),
  };
}

function partial(kind: string): string {
  return `${json};as=${kind};g=meta.k8s.io;v=v1`;
}

function sent(body: JsonObject, contentType = json): Pick<ApiRequest, "accept" | "body"> {
  return { accept: json, body: { contentType, text: JSON.stringify(body) } };
}

async function orNone<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export function collectionPath({ group, version, plural }: ResourceType, namespace: string | undefined): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const isCluster = namespace === undefined || namespace === "";
  return `${root}${isCluster ? "" : `/namespaces/${encodeURIComponent(namespace)}`}/${plural}`;
}

function objectPath(type: ResourceType, { namespace, name }: ObjectName, subresource?: string): string {
  const end = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(type, namespace)}/${encodeURIComponent(name)}${end}`;
}

function queryText(members: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? "" : `?${query.toString()}`;
}

function nameOf(object: JsonObject): ObjectName {
  const metadata = (object["metadata"] ?? {}) as { readonly name?: string; readonly namespace?: string };
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

// --------------------------------------------------------------------------------------- watches

/** A Secret of a mebibyte in base64 with metadata, several times over. */
const maxLineLength = 8 * 1024 * 1024;
const newline = 0x0a;

/**
 * Complete lines as text. Bytes are joined before they are decoded: a character may lie across two
 * chunks.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxLength = maxLineLength): AsyncIterable<string> {
  let begun: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, at)]).toString("utf8");
      begun = [];
      size = 0;
      from = at + 1;
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > maxLength) throw new ApiUnreachable("watch: a line is longer than any object can be");
  }
  if (size > 0) throw new ApiUnreachable("watch: the stream ended within a line");
}

/** What a line says is never quoted, because it may be a Secret. */
export async function* eventsOf(lines: AsyncIterable<string>, type: ResourceType): AsyncIterable<WatchEvent> {
  for await (const line of lines) {
    if (line !== "") yield eventOf(line, type);
  }
}

function eventOf(line: string, type: ResourceType): WatchEvent {
  const event = parsed(line, `watch ${type.plural}`) as { readonly type?: unknown; readonly object?: unknown };
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type: event.type, object: objectToKeep(event.object as KubeObject) };
    case "BOOKMARK":
      return { type: "BOOKMARK", resourceVersion: (event.object as KubeObject).metadata.resourceVersion };
    case "ERROR":
      throw failure(type, { body: event.object });
    default:
      throw new ApiUnreachable(`watch ${type.plural}: an event of no known type`);
  }
}
