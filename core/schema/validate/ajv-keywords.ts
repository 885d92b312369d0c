// What this service adds to ajv: two keywords, and alternatives that fail as one. Their `x-` names
// can't clash with a schema's, because ajv gets what emit-schema.ts wrote, without unknown
// keywords.

import { _, type CodeKeywordDefinition, Name } from "ajv";
import { validationLimits } from "../limits.ts";
import type { Meter, VisitCost } from "../meter.ts";
import type { Check } from "./context.ts";

export const chargeKeyword = "x-charge";
export const checkKeyword = "x-check";

/** In which ajv's code counts and keeps failures: it has no hook for "enough of them". */
const [errors, vErrors] = [new Name("errors"), new Name("vErrors")];

/**
 * In every schema object, before its other keywords: charges the visit, and ends the function when
 * there are enough failures to report.
 */
export function chargeDefinition(meter: Meter): CodeKeywordDefinition {
  return {
    keyword: chargeKeyword,
    before: "$ref",
    code: ({ gen, data, it, schema }) => {
      const { base, perMember, callsPerMember, perCharacters } = schema as VisitCost;
      const spender = gen.scopeValue("obj", { ref: meter });
      gen.code(_`${spender}.spend(${base})`);
      if (perMember > 0 || callsPerMember > 0 || perCharacters > 0) {
        gen.code(_`${spender}.spendOn(${data}, ${perMember}, ${callsPerMember}, ${perCharacters})`);
      }
      // The function has failed, whatever follows. Inside an alternative the failures may still be
      // dropped, so it continues there.
      if (it.compositeRule !== true) {
        gen.if(_`${errors} >= ${validationLimits.errors}`, () => {
          gen.assign(_`${it.validateName}.errors`, vErrors);
          gen.return(false);
        });
      }
    },
  };
}

/**
 * Its value is a list of indexes into `checks`: one list for all, because ajv needs quadratic time
 * for values of the code.
 */
export function checkDefinition(checks: readonly Check[]): CodeKeywordDefinition {
  return {
    keyword: checkKeyword,
    error: { message: "", params: ({ params }) => _`${params.failure}` },
    code: (cxt) => {
      const { gen, data, it, schema } = cxt;
      const list = gen.scopeValue("obj", { ref: checks });
      for (const index of schema as readonly number[]) {
        const check = _`${list}[${index}](${data}, ${it.parentData}, ${it.parentDataProperty})`;
        const failures = gen.const("failures", check);
        gen.if(_`${failures} !== undefined`, () => {
          gen.forOf("failure", failures, (failure) => {
            cxt.setParams({ failure });
            cxt.error(true);
          });
        });
      }
    },
  };
}

/** ajv keeps failures of every alternative; with this, only the keyword fails, once. */
export function failingAsOne(definition: CodeKeywordDefinition): CodeKeywordDefinition {
  return {
    ...definition,
    code: (cxt) => {
      const subschema = cxt.subschema.bind(cxt);
      cxt.subschema = (part, valid) => {
        const partContext = subschema(part, valid);
        // The outcome of the alternative is in `valid` by now.
        cxt.reset();
        return partContext;
      };
      definition.code(cxt);
    },
  };
}
