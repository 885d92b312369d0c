// The bounds of a schema and of the work of a validation. docs/reference/json-schema.md states
// them, with what was measured.

export const schemaLimits = {
  /** Bytes of the schema's JSON text. */
  bytes: 128 * 1024,
  /** Levels of nesting of the schema's JSON text. */
  depth: 64,
  /**
   * Schemas inside the schema, itself included. Each takes the compiler some 0.25 ms, in which
   * nothing else is served, and V8's stack ends at some 2,000 alternatives.
   */
  subschemas: 500,
  /** Schemas that apply to one value, once `$ref`, `allOf` and the like are followed. */
  schemasPerValue: 5000,
  /**
   * Members of objects in which defaults are filled in, counted for every set of schemas that
   * applies to an object.
   */
  filledMembers: 2_000,
  /** Characters of all defaults together, those inside filled in. */
  filledText: 1024 * 1024,
  /** Steps of all patterns together, after repetitions are written out. */
  patternSteps: 20_000,
  /** Magnitude of numbers in a schema: beyond it doubles skip integers. */
  number: Number.MAX_SAFE_INTEGER,
  /** Problems and warnings reported of one schema. */
  reports: 50,
} as const;

export const validationLimits = {
  /** Entries of `errors[]`. */
  errors: 100,
  /** Units of Meter for one validation, and units per character of the text if that is more. */
  work: 10_000_000,
  workPerCharacter: 10,
} as const;
