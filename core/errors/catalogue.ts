// Every error that a client can see: its stable code, its HTTP status and its title. docs/reference/errors.md is kept
// equal to this list by a test. Codes are never reused; `detail` of a problem says what to do in the case at hand.

interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
}

export const errorCatalogue = {
  malformed_json: { status: 400, title: "The body is not one well-formed JSON text" },
  duplicate_member: { status: 400, title: "An object in the body has two members of one name" },
  number_out_of_range: { status: 400, title: "A number can't be stored exactly" },
  too_deep: { status: 400, title: "The JSON is nested too deeply" },
  body_required: { status: 400, title: "A JSON body is required" },
  object_required: { status: 400, title: "The body must be a JSON object" },
  reserved_field: { status: 400, title: "The body uses a name that the service reserves" },
  validation_failed: { status: 400, title: "The object does not match its schema" },
  invalid_parameter: { status: 400, title: "A query parameter is invalid" },
  sort_not_indexed: { status: 400, title: "The field is not indexed and there are too many objects to sort" },
  query_too_expensive: { status: 400, title: "The query would read too many objects" },
  invalid_path: { status: 400, title: "The path is malformed" },
  invalid_index: { status: 400, title: "The last segment is not an array index" },
  invalid_request: { status: 400, title: "The request is not valid HTTP" },
  invalid_header: { status: 400, title: "A request header is malformed" },
  authentication_required: { status: 401, title: "Authentication is required" },
  invalid_credentials: { status: 401, title: "The credentials are invalid" },
  token_expired: { status: 401, title: "The token has expired" },
  insufficient_access: { status: 403, title: "The caller may not do this" },
  project_read_only: { status: 403, title: "The project is read-only" },
  quota_exceeded: { status: 403, title: "The project or the resource holds as much as it may" },
  not_found: { status: 404, title: "Nothing is stored there" },
  unknown_project: { status: 404, title: "There is no such project" },
  unknown_resource: { status: 404, title: "There is no such resource" },
  unknown_root_key: { status: 404, title: "There is no such root key" },
  unknown_path: { status: 404, title: "There is nothing at this path" },
  parent_not_found: { status: 404, title: "The parent of the path does not exist" },
  index_not_found: { status: 404, title: "The array has no element at this index" },
  method_not_allowed: { status: 405, title: "The method is not offered here" },
  request_timeout: { status: 408, title: "The request took too long to arrive" },
  key_exists: { status: 409, title: "The key exists already" },
  index_out_of_range: { status: 409, title: "The index is past the end of the array" },
  not_a_container: { status: 409, title: "The parent of the path is neither an object nor an array" },
  precondition_failed: { status: 412, title: "A precondition of the request does not hold" },
  body_too_large: { status: 413, title: "The body is too large" },
  document_too_large: { status: 413, title: "The stored value would become too large" },
  path_too_long: { status: 414, title: "The path is too long" },
  unsupported_media_type: { status: 415, title: "The body must be JSON" },
  login_throttled: { status: 429, title: "Too many failed logins" },
  write_throttled: { status: 429, title: "Too many anonymous writes" },
  headers_too_large: { status: 431, title: "The request's headers are too large" },
  internal_error: { status: 500, title: "The service failed" },
  project_off: { status: 503, title: "The project is switched off" },
  project_unavailable: { status: 503, title: "The project's configuration can't be had right now" },
  store_unavailable: { status: 503, title: "The store can't be reached" },
  outcome_unknown: { status: 503, title: "It is not known whether the write took place" },
  write_conflict: { status: 503, title: "Too many concurrent writes to one object" },
  index_building: { status: 503, title: "The index is being built" },
  project_busy: { status: 503, title: "Too many requests to one project at once" },
  query_busy: { status: 503, title: "Too many costly queries at once" },
  body_busy: { status: 503, title: "Too many large bodies at once" },
  login_busy: { status: 503, title: "Too many logins at once" },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;
