// Turns a checked schema tree into a validator. An ajv instance of its own compiles it and is
// dropped with it, so that nothing remains of replaced schemas. A validation ends with its failures
// or when its budget is spent.

import type { CodeKeywordDefinition, Format } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { AnyValidateFunction } from "ajv/dist/types/index.js";
import type { ProblemItem } from "../../errors/problem.ts";
import { checkedFormat } from "../formats.ts";
import { validationLimits } from "../limits.ts";
import { type Meter, WorkExhausted } from "../meter.ts";
import type { SchemaRead } from "../read/read-schema.ts";
import type { SchemaNode } from "../read/schema-tree.ts";
import { chargeDefinition, checkDefinition, failingAsOne } from "./ajv-keywords.ts";
import { type AjvFailure, ValidationContext } from "./context.ts";
import { emitSchema, functionPath } from "./emit-schema.ts";
import { failuresOf, problemItem } from "./messages.ts";
import { ExactIntegers, readExactly } from "./numbers.ts";

export interface Validation {
  /** None = valid. */
  readonly failures: readonly ProblemItem[];
  /** False where there may be further failures. */
  readonly areAll: boolean;
}

/** `value` is parseJson of `canonicalText`. */
export type Validate = (value: unknown, canonicalText: string) => Validation;

export function compileValidator(read: SchemaRead): Validate {
  const context = new ValidationContext(read.patterns);
  const validate = compile(read, context);
  const needsDigits = read.nodes.some(
    ({ assertions }) => assertions.has("multipleOf") || assertions.has("uniqueItems"),
  );
  const validationOf = (value: unknown): Validation => {
    try {
      return validate(value) === true ? valid : failed((validate.errors ?? []) as readonly AjvFailure[]);
    } catch (error) {
      if (error instanceof WorkExhausted) return exhausted;
      throw error;
    }
  };
  return (value, canonicalText) => {
    const exact = needsDigits ? readExactly(canonicalText) : undefined;
    const work = Math.max(validationLimits.work, validationLimits.workPerCharacter * canonicalText.length);
    context.begin(work, exact?.integers ?? noIntegers);
    return validationOf(exact === undefined ? value : exact.value);
  };
}

const noIntegers = new ExactIntegers();

const valid: Validation = { failures: [], areAll: true };

const tooMuchWork: ProblemItem = {
  pointer: "",
  keyword: "$schema",
  message: "Validating this object takes more work than one request may use; send fewer or smaller members",
};
const exhausted: Validation = { failures: [tooMuchWork], areAll: false };

function failed(reported: readonly AjvFailure[]): Validation {
  const failures = failuresOf(reported).slice(0, validationLimits.errors).map(problemItem);
  return { failures, areAll: reported.length < validationLimits.errors };
}

const schemaKey = "schema";

/** The function of the root; those that checks call are in the context. ajv itself is not kept. */
function compile(read: SchemaRead, context: ValidationContext): AnyValidateFunction {
  const { schema, checks, calledIds } = emitSchema(read, context);
  const ajv = createAjv(read, context.meter);
  ajv.addKeyword(chargeDefinition(context.meter)).addKeyword(checkDefinition(checks));
  for (const keyword of ["anyOf", "oneOf"]) {
    const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition;
    ajv.removeKeyword(keyword).addKeyword(failingAsOne(definition));
  }
  ajv.addSchema(schema, schemaKey);
  const compiled = (path: string): AnyValidateFunction => {
    const validate = ajv.getSchema(`${schemaKey}${path}`);
    if (validate === undefined) throw new TypeError(`ajv has no function for ${path}`);
    return validate;
  };
  for (const id of calledIds) context.add(id, compiled(functionPath(id)));
  return compiled("");
}

function createAjv({ nodes, patterns }: SchemaRead, meter: Meter): Ajv2020 {
  const regExp = (source: string) => {
    const matcher = patterns.matcher(source);
    return { test: (text: string) => matcher.test(text, meter), toString: () => source };
  };
  const ajv = new Ajv2020({
    strict: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    inlineRefs: false,
    logger: false,
    allErrors: true,
    messages: false,
    ownProperties: true,
    formats: formatsOf(nodes, meter),
    // `code` is read only where ajv writes standalone code, which it does not do here.
    code: { regExp: Object.assign(regExp, { code: "" }), optimize: false },
  });
  // Only the unevaluated… keywords, which are checks here, need what ajv would add to all code for
  // these.
  ajv.opts.unevaluated = false;
  ajv.opts.dynamicRef = false;
  return ajv;
}

function formatsOf(nodes: readonly SchemaNode[], meter: Meter): Record<string, Format> {
  const formats: Record<string, Format> = {};
  for (const { assertions } of nodes) {
    const name = assertions.get("format");
    if (typeof name !== "string" || Object.hasOwn(formats, name)) continue;
    const format = checkedFormat(name);
    if (format === undefined) formats[name] = true;
    else if (format.type === "string") formats[name] = { validate: (text: string) => format.fits(text, meter) };
    else formats[name] = { type: "number", validate: (value: number) => format.fits(value, meter) };
  }
  return formats;
}
