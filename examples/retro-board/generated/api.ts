// Made by `jsonplane types`: change the manifests, not this file.

export interface Card {
  /** Set by the server, never changed. */
  id: string;
  column: "good" | "bad" | "next";
  text: string;
  votes?: number;
  _metadata: Metadata;
}

export interface CardCreate {
  column: "good" | "bad" | "next";
  text: string;
  votes?: number;
}

/**
 * The fields to change. The others keep their values, and the whole object must match the
 * resource's schema.
 */
export interface CardUpdate {
  column?: "good" | "bad" | "next";
  text?: string;
  votes?: number;
}

/** A merge patch (RFC 7396): members to set, at any depth; null removes one. */
export interface CardPatch {
  column?: "good" | "bad" | "next";
  text?: string;
  votes?: number | null;
}

export interface CardFilters {
  _any?: string;
  "_metadata.created:gt"?: number;
  "_metadata.created:ge"?: number;
  "_metadata.created:lt"?: number;
  "_metadata.created:le"?: number;
  "_metadata.creator"?: string;
  column?: "good" | "bad" | "next";
  text?: string;
  votes?: number;
  "column:gt"?: string;
  "column:ge"?: string;
  "column:lt"?: string;
  "column:le"?: string;
  "column:ne"?: "good" | "bad" | "next";
  "column:in"?: string | ("good" | "bad" | "next")[];
  "column:starts"?: string;
  "column:contains"?: string;
  "column:exists"?: boolean;
  "text:gt"?: string;
  "text:ge"?: string;
  "text:lt"?: string;
  "text:le"?: string;
  "text:ne"?: string;
  "text:in"?: string | string[];
  "text:starts"?: string;
  "text:contains"?: string;
  "text:exists"?: boolean;
  "votes:gt"?: number;
  "votes:ge"?: number;
  "votes:lt"?: number;
  "votes:le"?: number;
  "votes:ne"?: number;
  "votes:in"?: string | number[];
  "votes:exists"?: boolean;
}

export type CardSort =
  | "column"
  | "-column"
  | "text"
  | "-text"
  | "votes"
  | "-votes"
  | "id"
  | "-id"
  | "_metadata.created"
  | "-_metadata.created";

/** Programs branch on it. */
export type ProblemCode =
  | "malformed_json"
  | "duplicate_member"
  | "number_out_of_range"
  | "too_deep"
  | "body_required"
  | "object_required"
  | "invalid_patch"
  | "reserved_field"
  | "validation_failed"
  | "invalid_parameter"
  | "invalid_line"
  | "sort_not_indexed"
  | "query_too_expensive"
  | "invalid_path"
  | "invalid_index"
  | "invalid_request"
  | "invalid_header"
  | "authentication_required"
  | "invalid_credentials"
  | "token_expired"
  | "insufficient_access"
  | "project_read_only"
  | "quota_exceeded"
  | "not_found"
  | "unknown_project"
  | "unknown_resource"
  | "unknown_root_key"
  | "unknown_path"
  | "parent_not_found"
  | "index_not_found"
  | "method_not_allowed"
  | "not_acceptable"
  | "request_timeout"
  | "key_exists"
  | "object_exists"
  | "index_out_of_range"
  | "not_a_container"
  | "not_unique"
  | "patch_conflict"
  | "increment_out_of_bounds"
  | "position_expired"
  | "precondition_failed"
  | "body_too_large"
  | "patch_too_large"
  | "document_too_large"
  | "path_too_long"
  | "unsupported_media_type"
  | "idempotency_key_reused"
  | "login_throttled"
  | "write_throttled"
  | "too_many_sessions"
  | "too_many_streams"
  | "rate_limited"
  | "headers_too_large"
  | "internal_error"
  | "transfer_coding_not_supported"
  | "project_off"
  | "project_unavailable"
  | "store_unavailable"
  | "data_lost"
  | "outcome_unknown"
  | "write_conflict"
  | "index_building"
  | "project_busy"
  | "query_busy"
  | "streams_busy"
  | "body_busy"
  | "login_busy"
  | "store_full";

/** Set by the server, never changed. */
export interface Metadata {
  /** Time of creation, as Unix time in seconds. */
  created: number;
  /**
   * Name of the user or API key, `<issuer>/<username>` of an external issuer's caller, or
   * `anonymous`.
   */
  creator: string;
  creator_type: "user" | "apikey" | "external" | "anonymous";
}

/** What a client of the project has to know. */
export interface Api {
  resources: {
    cards: {
      object: Card;
      create: CardCreate;
      update: CardUpdate;
      patch: CardPatch;
      filters: CardFilters;
      sort: CardSort;
    };
  };
  rootKeys: {};
  problems: ProblemCode;
}
