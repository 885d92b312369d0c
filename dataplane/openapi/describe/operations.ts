// Every operation that a project can offer, one entry each: path, policy, inputs, responses, and
// what may go wrong. describe-project.ts selects those that the policies allow.

import type { JsonObject, Operation } from "../../../core/config/types.ts";
import type { ProblemSource } from "./problems.ts";

/** Shapes of bodies and answers; those of a resource are its own. */
export type Shape =
  | "sent"
  | "changes"
  | "stored"
  | "page"
  | "Value"
  | "MergePatch"
  | "JsonPatch"
  | "Empty"
  | "Login"
  | "Refreshed"
  | "Sessions"
  | "Session"
  | "Caller"
  | "KeySet"
  | "Description"
  | "Export"
  | "Imported";

/** Parts of the document. */
type AnswerHeader = "Location" | "ETag" | "Idempotent-Replayed";
/** On a write, they need the right to read as well. */
type RequestHeader = "IfMatch" | "IfNoneMatch" | "IdempotencyKey";

export interface SuccessAnswer {
  readonly status: 200 | 201 | 204 | 304;
  readonly description: string;
  readonly shape?: Shape;
  /** Of its body; absent = application/json. */
  readonly type?: string;
  readonly headers?: readonly AnswerHeader[];
  /** Only where the caller may do this as well: a PUT that adds. */
  readonly needs?: Operation;
}

export interface OperationEntry {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** Last part of its operationId. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** What the policies are asked about; absent where anyone may. */
  readonly operation?: Operation;
  /** Asked about as well: an update answers with what it changed. */
  readonly needs?: readonly Operation[];
  readonly queries?: "list" | "object" | "upsert" | "export" | "import";
  readonly takes?: readonly RequestHeader[];
  /** By content type. */
  readonly body?: Readonly<Record<string, Shape>>;
  readonly answers: readonly SuccessAnswer[];
  readonly problems: readonly ProblemSource[];
}

export const json = "application/json";
const patchOf = (merged: Shape) =>
  ({ "application/merge-patch+json": merged, "application/json-patch+json": "JsonPatch" }) as const;
const patchDescription =
  "A merge patch (RFC 7396) or a JSON Patch (RFC 6902, with `increment`). All of it takes effect, or nothing.";
export const tagged = ["ETag"] as const;
const replayed = ["Idempotent-Replayed"] as const;
/** Reads that a client may make only of what it does not have. */
const unchanged: SuccessAnswer = {
  status: 304,
  description: "Unchanged: it has a tag that If-None-Match names.",
  headers: tagged,
};
export const conditional = ["IfMatch", "IfNoneMatch"] as const;
const removed: SuccessAnswer = { status: 204, description: "It was deleted." };

export const collectionOperations: readonly OperationEntry[] = [
  {
    method: "get",
    name: "list",
    summary: "List objects, page by page",
    description:
      "With `Accept: text/csv` the page is CSV (RFC 4180): a header record, a column for each declared value, and the next page in the header `Link`.",
    operation: "read",
    queries: "list",
    takes: conditional,
    answers: [{ status: 200, description: "A page.", shape: "page", headers: tagged }, unchanged],
    problems: ["preconditions", "list", "storedData", "largeAnswer"],
  },
  {
    method: "post",
    name: "create",
    summary: "Create an object",
    operation: "create",
    takes: ["IdempotencyKey"],
    body: { [json]: "sent" },
    answers: [
      {
        status: 201,
        description: "The stored object.",
        shape: "stored",
        headers: ["Location", ...tagged, ...replayed],
      },
    ],
    problems: ["idempotency", "preconditions", "objectBody", "creation", "writeConflict", "storedData", "write"],
  },
];

export const objectOperations: readonly OperationEntry[] = [
  {
    method: "get",
    name: "read",
    summary: "Read an object",
    operation: "read",
    queries: "object",
    takes: conditional,
    answers: [{ status: 200, description: "The object.", shape: "stored", headers: tagged }, unchanged],
    problems: ["preconditions", "fields", "pathWithParameters", "notFound", "storedData", "largeAnswer"],
  },
  {
    method: "put",
    name: "update",
    summary: "Change fields of an object",
    description:
      "Fields that are not sent keep their values. Nested objects are replaced as a whole, and `null` is a value.",
    operation: "update",
    needs: ["read"],
    takes: conditional,
    body: { [json]: "changes" },
    answers: [{ status: 200, description: "The whole object, as it is now stored.", shape: "stored", headers: tagged }],
    problems: ["preconditions", "pathWithParameters", "notFound", "objectBody", "update", "storedData", "write"],
  },
  {
    method: "patch",
    name: "patch",
    summary: "Change parts of an object at any depth",
    description: patchDescription,
    operation: "update",
    needs: ["read"],
    takes: conditional,
    body: { ...patchOf("MergePatch"), [json]: "MergePatch" },
    answers: [{ status: 200, description: "The whole object, as it is now stored.", shape: "stored", headers: tagged }],
    problems: [
      ...(["preconditions", "pathWithParameters", "notFound", "objectBody", "patch"] as const),
      ...(["update", "storedData", "write"] as const),
    ],
  },
  {
    method: "delete",
    name: "delete",
    summary: "Delete an object",
    operation: "delete",
    takes: conditional,
    answers: [removed],
    problems: ["preconditions", "pathWithParameters", "notFound", "writeConflict", "storedData", "write"],
  },
];

export const rootOperations: readonly OperationEntry[] = [
  {
    method: "get",
    name: "read",
    summary: "Read the whole value",
    operation: "read",
    takes: conditional,
    answers: [{ status: 200, description: "The value.", shape: "Value", headers: tagged }, unchanged],
    problems: ["preconditions", "storedData", "largeAnswer"],
  },
  {
    method: "put",
    name: "replace",
    summary: "Replace the whole value",
    operation: "update",
    takes: conditional,
    body: { [json]: "Value" },
    answers: [{ status: 200, description: "The stored value.", shape: "Value", headers: tagged }],
    problems: ["preconditions", "rootWrite", "writeConflict", "storedData", "write"],
  },
  {
    method: "patch",
    name: "patch",
    summary: "Change parts of the value at any depth",
    description: patchDescription,
    operation: "update",
    needs: ["read"],
    takes: conditional,
    body: patchOf("Value"),
    answers: [{ status: 200, description: "The stored value.", shape: "Value", headers: tagged }],
    problems: ["preconditions", "patch", "rootWrite", "writeConflict", "storedData", "write"],
  },
];

export const partOperations: readonly OperationEntry[] = [
  {
    method: "get",
    name: "readPart",
    summary: "Read a part of the value",
    operation: "read",
    takes: conditional,
    answers: [{ status: 200, description: "The value at this path.", shape: "Value", headers: tagged }, unchanged],
    problems: ["preconditions", "pathWithParameters", "notFound", "storedData", "largeAnswer"],
  },
  {
    method: "post",
    name: "addPart",
    summary: "Add a key to an object, or insert into an array",
    description: "Later elements of an array move up by one. An existing key is refused.",
    operation: "create",
    takes: [...conditional, "IdempotencyKey"],
    body: { [json]: "Value" },
    answers: [{ status: 201, description: "The new value.", shape: "Value", headers: [...tagged, ...replayed] }],
    problems: [
      ...(["idempotency", "preconditions", "pathWithParameters", "partWrite", "partInsert"] as const),
      ...(["writeConflict", "storedData", "write"] as const),
    ],
  },
  {
    method: "put",
    name: "putPart",
    summary: "Replace a part, or add a key to an object",
    operation: "update",
    takes: conditional,
    body: { [json]: "Value" },
    answers: [
      { status: 200, description: "The value that replaced the old one.", shape: "Value", headers: tagged },
      {
        status: 201,
        description: "The value of the new key.",
        shape: "Value",
        headers: tagged,
        needs: "create",
      },
    ],
    problems: [
      "preconditions",
      "pathWithParameters",
      "partWrite",
      "partReplacement",
      "writeConflict",
      "storedData",
      "write",
    ],
  },
  {
    method: "patch",
    name: "patchPart",
    summary: "Change a part of the value, at any depth",
    description: patchDescription,
    operation: "update",
    needs: ["read"],
    takes: conditional,
    body: patchOf("Value"),
    answers: [
      { status: 200, description: "The value at this path, as it is now stored.", shape: "Value", headers: tagged },
      { status: 201, description: "The value of the new key.", shape: "Value", headers: tagged, needs: "create" },
    ],
    problems: [
      ...(["preconditions", "pathWithParameters", "notFound", "patch", "partWrite", "partReplacement"] as const),
      ...(["writeConflict", "storedData", "write"] as const),
    ],
  },
  {
    method: "delete",
    name: "removePart",
    summary: "Remove a key of an object, or an element of an array",
    description: "Later elements of an array move down by one.",
    operation: "delete",
    takes: conditional,
    answers: [{ status: 200, description: "An empty object, `{}`.", shape: "Empty" }],
    problems: [
      ...(["preconditions", "pathWithParameters", "notFound", "partRemoval"] as const),
      ...(["writeConflict", "storedData", "write"] as const),
    ],
  },
];

interface FixedEntry extends Omit<OperationEntry, "operation" | "needs" | "queries"> {
  readonly path: string;
  readonly security: readonly JsonObject[];
  /** Parts of the document. */
  readonly parameters?: readonly string[];
}

const seesSession = "Who may: the session's owner, and callers with the role Administrators.";
const endsSession =
  "Who may: the session's owner, and callers with the role Administrators and the access level Write.";
const bySession: readonly JsonObject[] = [{ bearer: [] }];
const caller: readonly JsonObject[] = [...bySession, { apikey: [] }];

export const fixedOperations: readonly FixedEntry[] = [
  {
    path: "/sessions",
    method: "post",
    name: "login",
    summary: "Log in",
    description:
      "Exchanges a user's name and password for an access token and a refresh token. The request has no body.",
    security: [{ login: [] }],
    answers: [{ status: 201, description: "Both tokens.", shape: "Login", headers: ["Location"] }],
    problems: ["anonymousCaller", "credentials", "login", "store", "write"],
  },
  {
    path: "/sessions",
    method: "get",
    name: "list",
    summary: "List sessions",
    description: "The role Administrators sees all sessions of the project, the role Users only its own.",
    security: caller,
    answers: [{ status: 200, description: "The sessions that have not ended, newest first.", shape: "Sessions" }],
    problems: ["anonymousCaller", "credentials", "fairShare", "store", "largeAnswer"],
  },
  {
    path: "/sessions/refresh",
    method: "post",
    name: "refresh",
    summary: "Get a new access token",
    description: "Send the refresh token of a login. The request has no body.",
    security: [{ refresh: [] }],
    answers: [{ status: 200, description: "A new access token.", shape: "Refreshed" }],
    problems: ["anonymousCaller", "credentials", "store", "write"],
  },
  {
    path: "/sessions/{id}",
    method: "get",
    name: "read",
    summary: "Read a session",
    description: seesSession,
    security: caller,
    parameters: ["SessionId"],
    answers: [{ status: 200, description: "The session.", shape: "Session" }],
    problems: ["pathWithParameters", "anonymousCaller", "credentials", "notFound", "store"],
  },
  {
    path: "/sessions/{id}",
    method: "delete",
    name: "end",
    summary: "Log out",
    description: `${endsSession} Its tokens stop working on every server, usually within a second.`,
    security: caller,
    parameters: ["SessionId"],
    answers: [removed],
    problems: ["pathWithParameters", "anonymousCaller", "credentials", "notFound", "store", "write"],
  },
  {
    path: "/sessions/current",
    method: "get",
    name: "readCurrent",
    summary: "Read the session of the access token",
    security: bySession,
    answers: [{ status: 200, description: "The session.", shape: "Session" }],
    problems: ["anonymousCaller", "credentials", "notFound", "store"],
  },
  {
    path: "/sessions/current",
    method: "delete",
    name: "endCurrent",
    summary: "Log out of the session of the access token",
    description: "Its tokens stop working on every server, usually within a second.",
    security: bySession,
    answers: [removed],
    problems: ["anonymousCaller", "credentials", "notFound", "store", "write"],
  },
  {
    path: "/whoami",
    method: "get",
    name: "whoami",
    summary: "See who the server takes you for",
    description: "Without credentials, too. An invalid or expired credential is refused here as everywhere.",
    security: [{}, ...caller],
    answers: [{ status: 200, description: "The caller.", shape: "Caller" }],
    problems: ["credentials"],
  },
  {
    path: "/.well-known/jwks.json",
    method: "get",
    name: "keys",
    summary: "Public keys that verify access tokens",
    security: [],
    answers: [{ status: 200, description: "The keys.", shape: "KeySet" }],
    problems: [],
  },
];
