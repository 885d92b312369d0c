// What this service adds to ajv: two keywords of its own, and alternatives that fail as one. `x-` names can't meet a schema's, because
// ajv is given what emit-schema.ts wrote, and no unknown keywords.

import { _, type CodeKeywordDefinition, Name } from "ajv";
import { validationLimits } from "../limits.ts";
import type { Meter, VisitCost } from "../meter.ts";
import type { Check } from "./context.ts";

export const chargeKeyword = "x-charge";
export const checkKeyword = "x-check";

/** In which ajv's code counts and keeps failures: it has no hook for "enough of them". */
const [errors, vErrors] = [new Name("errors"), new Name("vErrors")];

/**
 * Stands in every schema object and runs before its other keywords: charges the visit, and ends the function when there are enough
 * failures to report.
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
      // Whatever follows, the function has failed. Inside an alternative the failures may still be dropped, so there it goes on.
      if (it.compositeRule !== true) {
        gen.if(_`${errors} >= ${validationLimits.errors}`, () => {
          gen.assign(_`${it.validateName}.errors`, vErrors);
          gen.return(false);
        });
      }
    },
  };
}

/** Its value is a list of indexes into `checks`: one list for all, because ajv needs quadratic time for values of the code. */
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

/** ajv keeps the failures of every alternative that it tried; with this, only the keyword itself fails, once. */
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
