// Turns a checked schema tree into a validator: an ajv instance of its own compiles it and is let go with it, so that
// nothing stays of schemas that are replaced. A validation ends with its failures or when its budget is spent.

import type { CodeKeywordDefinition, Format } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { AnyValidateFunction } from "ajv/dist/types/index.js";
import type { ProblemItem } from "../../errors/problem.ts";
import { checkedFormat } from "../formats.ts";
import { validationLimits } from "../limits.ts";
import { type Meter, WorkExhausted } from "../meter.ts";
import type { Patterns } from "../pattern/patterns.ts";
import type { SchemaRead } from "../read/read-schema.ts";
import type { SchemaNode } from "../read/schema-tree.ts";
import { replacedKeywords, schemaKeywords, withoutFailuresOfParts } from "./ajv-keywords.ts";
import { type Failure, ValidationContext } from "./context.ts";
import { emitSchema, functionPath } from "./emit-schema.ts";
import { ExactIntegers, readExactly } from "./exact-integers.ts";
import { problemItem } from "./messages.ts";

export type Validate = (value: unknown, canonicalText: string) => readonly ProblemItem[];

const schemaKey = "schema";

export function ajvValidator({ root, nodes, patterns }: SchemaRead): Validate {
  const context = new ValidationContext();
  const check = compile({ root, nodes, patterns }, context);
  const needsDigits = nodes.some(({ assertions }) => assertions.has("multipleOf") || assertions.has("uniqueItems"));
  const failuresOf = (value: unknown): readonly ProblemItem[] => {
    try {
      return check(value) === true ? [] : itemsOf((check.errors ?? []) as readonly Failure[]);
    } catch (error) {
      if (error instanceof WorkExhausted) return [exhausted];
      throw error;
    }
  };
  return (value, canonicalText) => {
    const exact = needsDigits ? readExactly(canonicalText) : undefined;
    const work = Math.max(validationLimits.work, validationLimits.workPerCharacter * canonicalText.length);
    context.begin(work, exact?.integers ?? noIntegers);
    return failuresOf(exact === undefined ? value : exact.value);
  };
}

/** The function of the root; those that keywords call go to the context. ajv itself is not kept. */
function compile({ root, nodes, patterns }: SchemaRead, context: ValidationContext): AnyValidateFunction {
  const ajv = createAjv(nodes, patterns, context.meter);
  for (const keyword of replacedKeywords) ajv.removeKeyword(keyword);
  for (const definition of schemaKeywords({ context, patterns })) ajv.addKeyword(definition);
  for (const keyword of ["anyOf", "oneOf"]) {
    const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition;
    ajv.removeKeyword(keyword).addKeyword(withoutFailuresOfParts(definition));
  }
  const { schema, calledIds } = emitSchema(root, nodes);
  ajv.addSchema(schema, schemaKey);
  const compiled = (path: string) => {
    const check = ajv.getSchema(`${schemaKey}${path}`);
    if (check === undefined) throw new TypeError(`ajv has no function for ${path}`);
    return check;
  };
  for (const id of calledIds) context.add(id, compiled(functionPath(id)));
  return compiled("");
}

const noIntegers = new ExactIntegers();

const exhausted: ProblemItem = {
  pointer: "",
  keyword: "$schema",
  message: "Checking the object against its schema takes more work than one request may; send fewer or smaller members",
};

function itemsOf(failures: readonly Failure[]): readonly ProblemItem[] {
  // What stands under then and else fails for itself; ajv adds one more entry that says so.
  const told = failures.filter(({ keyword }) => keyword !== "if");
  return told.slice(0, validationLimits.errors).map(problemItem);
}

function createAjv(nodes: readonly SchemaNode[], patterns: Patterns, meter: Meter): Ajv2020 {
  const regExp = Object.assign(
    (source: string) => {
      const matcher = patterns.matcher(source);
      return { test: (text: string) => matcher.test(text, meter), toString: () => source };
    },
    // Only read where ajv writes standalone code, which it does not do here.
    { code: "" },
  );
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
    code: { regExp: regExp as never, optimize: false },
  });
  // The keywords that need it are replaced; without it ajv writes less code.
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
