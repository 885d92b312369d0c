// Made by `jsonplane types`: change the manifests, not this file.

/** What we sell /* and lend *\/. */
export interface Book {
  /** Set by the server, never changed. */
  id: string;
  title: string;
  /** Default: `"new"`, filled in where a new object lacks it. */
  state: "new" | "used";
  /** Null where it is not for sale. */
  price?: number | null;
  author: {
    name: string;
    /** Default: `true`, filled in where a new object lacks it. */
    alive: boolean;
  };
  size?: [number, number?];
  labels?: {
    [name: string]: string;
  };
  stock?: {
    total?: number;
    [name: string]: boolean | number | undefined;
  };
  /** @deprecated */
  "shelf-mark"?: string;
  notes?: unknown;
  _metadata: Metadata;
}

/** What we sell /* and lend *\/. */
export interface BookCreate {
  title: string;
  /** Default: `"new"`, filled in where a new object lacks it. */
  state?: "new" | "used";
  /** Null where it is not for sale. */
  price?: number | null;
  author: {
    name: string;
    /** Default: `true`, filled in where a new object lacks it. */
    alive?: boolean;
  };
  size?: [number, number?];
  labels?: {
    [name: string]: string;
  };
  stock?: {
    total?: number;
    [name: string]: boolean | number | undefined;
  };
  /** @deprecated */
  "shelf-mark"?: string;
  notes?: unknown;
}

/**
 * The fields to change. The others keep their values, and the whole object must match the
 * resource's schema.
 */
export interface BookUpdate {
  title?: string;
  /** Default: `"new"`, filled in where a new object lacks it. */
  state?: "new" | "used";
  /** Null where it is not for sale. */
  price?: number | null;
  author?: {
    name: string;
    /** Default: `true`, filled in where a new object lacks it. */
    alive: boolean;
  };
  size?: [number, number?];
  labels?: {
    [name: string]: string;
  };
  stock?: {
    total?: number;
    [name: string]: boolean | number | undefined;
  };
  /** @deprecated */
  "shelf-mark"?: string;
  notes?: unknown;
}

/** A merge patch (RFC 7396): members to set, at any depth; null removes one. */
export interface BookPatch {
  title?: string;
  /** Default: `"new"`, filled in where a new object lacks it. */
  state?: "new" | "used";
  /** Null where it is not for sale. */
  price?: number | null;
  author?: {
    name?: string;
    /** Default: `true`, filled in where a new object lacks it. */
    alive?: boolean;
  };
  size?: [number, number?] | null;
  labels?: {
    [name: string]: string | null;
  } | null;
  stock?: {
    total?: number | null;
    [name: string]: boolean | null | number | undefined;
  } | null;
  /** @deprecated */
  "shelf-mark"?: string | null;
  notes?: unknown;
}

export interface BookFilters {
  _any?: string;
  "_metadata.created:gt"?: number;
  "_metadata.created:ge"?: number;
  "_metadata.created:lt"?: number;
  "_metadata.created:le"?: number;
  "_metadata.creator"?: string;
  title?: string;
  state?: "new" | "used";
  price?: number | null;
  "shelf-mark"?: string;
  notes?: string | number | boolean;
  "author.name"?: string;
  "author.alive"?: boolean;
  "stock.total"?: number;
  "title:gt"?: string;
  "title:ge"?: string;
  "title:lt"?: string;
  "title:le"?: string;
  "title:ne"?: string;
  "title:in"?: string | string[];
  "title:starts"?: string;
  "title:contains"?: string;
  "title:exists"?: boolean;
  "size:contains"?: string;
}

export type BookSort =
  | "title"
  | "-title"
  | "state,price"
  | "-state,-price"
  | "id"
  | "-id"
  | "_metadata.created"
  | "-_metadata.created";

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

export type Categories = CategoriesData & {
  /** Set by the server, never changed. */
  id: string;
  _metadata: Metadata;
};

/**
 * The fields to change. The others keep their values, and the whole object must match the
 * resource's schema.
 */
export type CategoriesUpdate = Partial<CategoriesData>;

/** A merge patch (RFC 7396): members to set, at any depth; null removes one. */
export type CategoriesPatch = {
  name?: string;
} & {
  children?: CategoriesNode[] | null;
};

export interface CategoriesFilters {
  _any?: string;
  "_metadata.created:gt"?: number;
  "_metadata.created:ge"?: number;
  "_metadata.created:lt"?: number;
  "_metadata.created:le"?: number;
  "_metadata.creator"?: string;
  name?: string;
  "name:gt"?: string;
  "name:ge"?: string;
  "name:lt"?: string;
  "name:le"?: string;
  "name:ne"?: string;
  "name:in"?: string | string[];
  "name:starts"?: string;
  "name:contains"?: string;
  "name:exists"?: boolean;
  "children:contains"?: string;
}

export type CategoriesSort = "name" | "-name" | "id" | "-id" | "_metadata.created" | "-_metadata.created";

export type CategoriesData = {
  name: string;
} & {
  children?: CategoriesNode[];
};

export interface CategoriesNode {
  label: string;
  children?: CategoriesNode[];
}

export type PaymentEvents = PaymentEventsCreate & {
  /** Set by the server, never changed. */
  id: string;
  _metadata: Metadata;
};

export type PaymentEventsCreate =
  | {
      kind: "card";
      last4: string;
    }
  | {
      kind: "cash";
      change?: number;
    };

/**
 * The fields to change. The others keep their values, and the whole object must match the
 * resource's schema.
 */
export type PaymentEventsUpdate = Partial<PaymentEventsCreate>;

/** A merge patch (RFC 7396): members to set, at any depth; null removes one. */
export type PaymentEventsPatch =
  | {
      kind?: "card" | null;
      last4?: string | null;
      change?: null;
    }
  | {
      kind?: "cash" | null;
      last4?: null;
      change?: number | null;
    };

export interface PaymentEventsFilters {
  _any?: string;
  "_metadata.created:gt"?: number;
  "_metadata.created:ge"?: number;
  "_metadata.created:lt"?: number;
  "_metadata.created:le"?: number;
  "_metadata.creator"?: string;
}

export type PaymentEventsSort = "id" | "-id" | "_metadata.created" | "-_metadata.created";

export interface BookPatch2 {
  /** Set by the server, never changed. */
  id: string;
  reason?: BookPatch2Data;
  toString?: unknown;
  _metadata: Metadata;
}

export interface BookPatch2Create {
  reason?: BookPatch2Data;
  toString?: unknown;
}

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

export type BookPatch2Data = "late" | 1 | null;

/** What a client of the project has to know. */
export interface Api {
  resources: {
    books: {
      object: Book;
      create: BookCreate;
      update: BookUpdate;
      patch: BookPatch;
      filters: BookFilters;
      sort: BookSort;
    };
    categories: {
      object: Categories;
      create: never;
      update: CategoriesUpdate;
      patch: CategoriesPatch;
      filters: CategoriesFilters;
      sort: CategoriesSort;
    };
    "payment-events": {
      object: PaymentEvents;
      create: PaymentEventsCreate;
      update: PaymentEventsUpdate;
      patch: PaymentEventsPatch;
      filters: PaymentEventsFilters;
      sort: PaymentEventsSort;
    };
    returns: {
      object: BookPatch2;
      create: BookPatch2Create;
      update: never;
      patch: never;
      filters: never;
      sort: never;
    };
  };
  rootKeys: {
    "opening-hours": unknown;
  };
  problems: ProblemCode;
}
