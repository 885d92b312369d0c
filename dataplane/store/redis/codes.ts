// What a script's answer begins with. Each script names those that it uses by the same words; a test compares the two.

export const code = {
  done: 0,
  stale_index_set: 1,
  quota_exceeded: 2,
  conflict: 3,
  not_found: 4,
  busy: 5,
  more: 6,
  repeated: 7,
  missing_document: 10,
  parent_not_found: 11,
  not_a_container: 12,
  invalid_index: 13,
  index_out_of_range: 14,
  index_not_found: 15,
  key_exists: 16,
  create_refused: 17,
  document_too_large: 18,
  created: 19,
  replaced: 20,
  exhausted: 30,
} as const;

export type Code = (typeof code)[keyof typeof code];
