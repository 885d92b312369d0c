// The API server as the operator sees it: a port with the few verbs that are used. Every call ends:
// a deadline of its own and the caller's signal both abort it. Failures are ApiFailure (the server
// answered) and ApiUnreachable (it did not).

import type { JsonObject } from "../../core/config/types.ts";
import type { ObjectMeta } from "../../core/manifests/object.ts";

/** One kind of object as the API addresses it; `group` is empty for the core API. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  /** Lower-case plural, as in the path. */
  readonly plural: string;
  readonly kind: string;
}

/** `metadata` as the server gives it. */
export interface ServedMeta extends ObjectMeta {
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/**
 * An object as the server gives it; `metadata.managedFields` and kubectl's last-applied annotation
 * are dropped on arrival.
 */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ServedMeta;
  readonly [member: string]: unknown;
}

export interface ListScope {
  /** All namespaces when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Asks for PartialObjectMetadata: nothing of an object but its metadata comes over the wire. */
  readonly metadataOnly?: boolean;
}

export interface ListRequest extends ListScope {
  /** Objects per page. */
  readonly limit: number;
  readonly continue?: string;
}

export interface ListPage {
  readonly items: readonly KubeObject[];
  /** Where a watch goes on. */
  readonly resourceVersion: string;
  /** Absent on the last page. */
  readonly continue?: string;
}

export interface WatchRequest extends ListScope {
  readonly resourceVersion: string;
  readonly timeoutSeconds: number;
}

export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

export interface ObjectName {
  /** Empty for kinds without namespaces. */
  readonly namespace: string;
  readonly name: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The call is given up after this time; 10 s by default, 60 s for a page of a list. */
  readonly timeoutMs?: number;
}

export interface WatchOptions {
  readonly signal?: AbortSignal;
  /** Called for the head of the response and for all that follows. */
  readonly onBytes?: () => void;
}

export interface KubeReader {
  /** A consistent reading (no resourceVersion is sent), one page. */
  list(type: ResourceType, request: ListRequest, options?: CallOptions): Promise<ListPage>;
  /**
   * Events in order, until the server ends the stream. An ERROR event ends it with ApiFailure, a
   * cut with ApiUnreachable, an aborted signal with the signal's reason.
   */
  watch(type: ResourceType, request: WatchRequest, options: WatchOptions): AsyncIterable<WatchEvent>;
  /** Undefined when there is no such object. */
  get(type: ResourceType, name: ObjectName, options?: CallOptions): Promise<KubeObject | undefined>;
}

export interface KubeDocuments {
  /** The text at a path of the API server that is no object, such as `/openid/v1/jwks`. */
  getDocument(path: string, options?: CallOptions): Promise<string>;
}

export interface KubeWriter {
  /** POST; 409 AlreadyExists when there is one. */
  create(type: ResourceType, object: JsonObject, options?: CallOptions): Promise<KubeObject>;
  /**
   * PUT; `object` carries metadata.resourceVersion, and 409 Conflict says that it has changed
   * since.
   */
  replace(type: ResourceType, object: JsonObject, options?: CallOptions): Promise<KubeObject>;
  /**
   * Server-side apply (forced) as field manager `jsonplane-operator`. `object` carries
   * metadata.uid, so that an object which is gone is never created by it (409), and another one of
   * its name is left alone (422). The server looks at the UID on the object itself only: for
   * `status`, `object` carries metadata.resourceVersion as well, and 409 says that it has changed.
   */
  apply(type: ResourceType, object: JsonObject, options?: ApplyOptions): Promise<KubeObject>;
  /** DELETE with preconditions; false when there is none, 409 when it is another or has changed. */
  remove(
    type: ResourceType,
    name: ObjectName,
    preconditions: { readonly uid: string; readonly resourceVersion?: string },
    options?: CallOptions,
  ): Promise<boolean>;
}

export interface ApplyOptions extends CallOptions {
  readonly subresource?: "status";
}

export interface KubeApi extends KubeReader, KubeDocuments, KubeWriter {
  /** Ends all connections; calls under way fail with ApiUnreachable. */
  close(): Promise<void>;
}

export interface ApiFailureDetails {
  readonly reason?: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  readonly causes?: readonly string[];
}

/**
 * The server answered with a failure. `message` is the server's own and never holds what was sent.
 */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  /** HTTP status; in a watch the code of the ERROR event. */
  readonly status: number;
  /**
   * Kubernetes' word for it: `AlreadyExists`, `Conflict`, `Expired`, `Forbidden`, …; empty when it
   * gave none.
   */
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;
  /** Reasons of `details.causes`, such as `NamespaceTerminating`, which a 403 has only there. */
  readonly causes: readonly string[];

  constructor(status: number, { reason = "", message, retryAfterSeconds, causes = [] }: ApiFailureDetails) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.retryAfterSeconds = retryAfterSeconds;
    this.causes = causes;
  }
}

/** No answer: refused, cut, timed out. A write may have happened. */
export class ApiUnreachable extends Error {
  override readonly name = "ApiUnreachable";
}

/** Milliseconds that the server asks to wait. */
export function retryAfterMsOf(error: unknown): number | undefined {
  const seconds = error instanceof ApiFailure ? error.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : seconds * 1_000;
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 409;
}

export function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 401;
}

export function isForbidden(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 403;
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 404;
}

/**
 * 403 of a quota or of missing rights, 413 and 422 of a policy: the same write fails again until
 * somebody acts.
 */
export function isLastingRefusal(error: unknown): error is ApiFailure {
  return error instanceof ApiFailure && [400, 403, 413, 422].includes(error.status);
}

/**
 * The API server refuses this one write, for good or because another client was faster. Other
 * writes may succeed.
 */
export function isRefusedWrite(error: unknown): boolean {
  return isLastingRefusal(error) || isConflict(error);
}

/**
 * A write into a namespace that is being deleted: it can't succeed any more, and needs no report.
 */
export function isNamespaceTerminating(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 403 && error.causes.includes("NamespaceTerminating");
}
