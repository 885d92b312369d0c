// Made by `jsonplane types`: change the manifests, not this file.

export interface Tasks {
  /** Set by the server, never changed. */
  id: string;
  title: string;
  /** 1 is the most urgent */
  priority: number;
  due?: string;
  done?: boolean;
  _metadata: Metadata;
}

export interface TasksCreate {
  title: string;
  /** 1 is the most urgent */
  priority: number;
  due?: string;
  done?: boolean;
}

/**
 * The fields to change. The others keep their values, and the whole object must match the
 * resource's schema.
 */
export interface TasksUpdate {
  title?: string;
  /** 1 is the most urgent */
  priority?: number;
  due?: string;
  done?: boolean;
}

/** A merge patch (RFC 7396): members to set, at any depth; null removes one. */
export interface TasksPatch {
  title?: string;
  /** 1 is the most urgent */
  priority?: number;
  due?: string | null;
  done?: boolean | null;
}

export interface TasksFilters {
  _any?: string;
  "_metadata.created:gt"?: number;
  "_metadata.created:ge"?: number;
  "_metadata.created:lt"?: number;
  "_metadata.created:le"?: number;
  "_metadata.creator"?: string;
  title?: string;
  priority?: number;
  due?: string;
  done?: boolean;
  "title:gt"?: string;
  "title:ge"?: string;
  "title:lt"?: string;
  "title:le"?: string;
  "title:ne"?: string;
  "title:in"?: string | string[];
  "title:starts"?: string;
  "title:contains"?: string;
  "title:exists"?: boolean;
  "priority:gt"?: number;
  "priority:ge"?: number;
  "priority:lt"?: number;
  "priority:le"?: number;
  "priority:ne"?: number;
  "priority:in"?: string | number[];
  "priority:exists"?: boolean;
  "due:gt"?: string;
  "due:ge"?: string;
  "due:lt"?: string;
  "due:le"?: string;
  "due:ne"?: string;
  "due:in"?: string | string[];
  "due:starts"?: string;
  "due:contains"?: string;
  "due:exists"?: boolean;
}

export type TasksSort =
  | "title"
  | "-title"
  | "priority"
  | "-priority"
  | "due"
  | "-due"
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
    tasks: {
      object: Tasks;
      create: TasksCreate;
      update: TasksUpdate;
      patch: TasksPatch;
      filters: TasksFilters;
      sort: TasksSort;
    };
  };
  rootKeys: {};
  problems: ProblemCode;
}
