// The port KubeApi over HTTP: raw JSON in and out, because typed models drop what they don't know.

import type { JsonObject } from "../../core/config/types.ts";
import { collectionPath, nameOf, objectPath, queryText } from "./address.ts";
import { objectToKeep, parsed } from "./answers.ts";
import {
  type CallOptions,
  isNotFound,
  type KubeApi,
  type KubeObject,
  type ListPage,
  type ListRequest,
  type ResourceType,
} from "./api.ts";
import {
  type ApiRequest,
  createHttpTransport,
  type HttpTransport,
  type HttpTransportOptions,
} from "./http-transport.ts";
import { fieldManager } from "./resource-types.ts";
import { eventsOf, linesOf } from "./watch-lines.ts";

const json = "application/json";
const partial = (kind: string): string => `${json};as=${kind};g=meta.k8s.io;v=v1`;

export function createRestApi(options: HttpTransportOptions): KubeApi {
  const transport = createHttpTransport(options);
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
      return eventsOf(linesOf(counted(transport.stream(request, call), call.onBytes)), type);
    },
    getDocument(path, { maxBytes, signal }) {
      const request: ApiRequest = { verb: "get", method: "GET", type: documentType(path), path, accept: "*/*" };
      return textWithin(maxBytes, transport.stream(request, { signal }));
    },
    async get(type, name, call) {
      const request: ApiRequest = { verb: "get", method: "GET", type, path: objectPath(type, name), accept: json };
      return orNone(object(transport, request, call));
    },
    create: (type, given, call) => {
      const path = collectionPath(type, nameOf(given).namespace);
      return object(transport, { verb: "create", method: "POST", type, path, ...sent(given) }, call);
    },
    replace: (type, given, call) => {
      const path = objectPath(type, nameOf(given));
      return object(transport, { verb: "update", method: "PUT", type, path, ...sent(given) }, call);
    },
    apply: (type, given, { subresource, ...call } = {}) => {
      const query = queryText({ fieldManager, force: "true" });
      const request: ApiRequest = {
        verb: "patch",
        method: "PATCH",
        type,
        ...(subresource !== undefined && { subresource }),
        path: `${objectPath(type, nameOf(given), subresource)}${query}`,
        ...sent(given, "application/apply-patch+yaml"),
      };
      return object(transport, request, call);
    },
    async remove(type, name, preconditions, call) {
      const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { ...preconditions } };
      const request: ApiRequest = {
        verb: "delete",
        method: "DELETE",
        type,
        path: objectPath(type, name),
        ...sent(body),
      };
      return (await orNone(transport.call(request, call))) !== undefined;
    },
    close: () => transport.close(),
  };
}

/** Counted and refused by its path, as RBAC names it. */
function documentType(path: string): ResourceType {
  return { group: "", version: "", plural: path, kind: "" };
}

async function list(
  transport: HttpTransport,
  type: ResourceType,
  { limit, continue: token, labelSelector, fieldSelector, ...scope }: ListRequest,
  call: CallOptions | undefined,
): Promise<ListPage> {
  const request: ApiRequest = {
    verb: "list",
    method: "GET",
    type,
    path: `${collectionPath(type, scope.namespace)}${queryText({ limit, continue: token, labelSelector, fieldSelector })}`,
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

async function object(
  transport: HttpTransport,
  request: ApiRequest,
  call: CallOptions | undefined,
): Promise<KubeObject> {
  return objectToKeep(
    parsed(await transport.call(request, call), `${request.verb} ${request.type.plural}`) as KubeObject,
  );
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

async function textWithin(maxBytes: number, pieces: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    // Leaving the loop ends the exchange.
    if (bytes > maxBytes) return undefined;
    read.push(piece);
  }
  return Buffer.concat(read).toString("utf8");
}

async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  onBytes: (() => void) | undefined,
): AsyncIterable<Uint8Array> {
  for await (const piece of pieces) {
    onBytes?.();
    yield piece;
  }
}
