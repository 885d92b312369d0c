// Answers how many objects have each value of a field: by walking its index from value to value,
// else by a bounded scan. Refuses what would read too much, or has too many values.

import { Problem } from "../../../core/errors/problem.ts";
import { currentResponse } from "../../http/conditional-requests.ts";
import type { HttpResponse } from "../../http/exchange.ts";
import { betweenValues, compareEncoded, decodeSortValue } from "../../store/order.ts";
import type { ValueCount } from "../../store/ports/lists.ts";
import { fieldsOf, type IndexScan } from "./query-plan.ts";
import { countWithoutIndex, type ListRequest } from "./run-without-index.ts";
import type { SortKey } from "./sort.ts";

/** They occupy Redis for some milliseconds, as ten thousand candidates do. */
export const maxCountedValues = 500;

export async function countObjects(request: ListRequest, field: SortKey): Promise<HttpResponse> {
  const values = await valuesOf(request, field);
  if (values === undefined || values.length > maxCountedValues) throw tooManyValues(field);
  const count = values.reduce((sum, each) => sum + each.count, 0);
  const { url, plan, preconditions } = request;
  const links = { self: `${url}?${plan.query.suffix.slice(1)}` };
  const text = `{"count":${count},"counts":[${countsText(values)}],"items":[],"links":${JSON.stringify(links)}}`;
  return currentResponse(text, preconditions);
}

/** Ascending; undefined = too many. */
async function valuesOf(request: ListRequest, field: SortKey): Promise<readonly ValueCount[] | undefined> {
  const { store, collection, visible, plan } = request;
  const { indexPlan = { candidateScans: [], isInCreationOrder: false } } = plan;
  const { answeringScan } = indexPlan;
  if (answeringScan !== undefined) {
    const found = await store.countValues(collection, visible, answeringScan.query, maxCountedValues);
    if (found.outcome === "too_many") return undefined;
    if (found.outcome === "counted") return found.values.map((each) => countedIn(each, answeringScan, field));
    request.onIndexMissing();
  }
  const counts = await countWithoutIndex(request, indexPlan, field.path);
  const values = [...counts].map(([value, count]) => ({ value, count }));
  return values.toSorted((one, other) => compareEncoded(one.value, other.value));
}

/** An index of two fields has the values of both. */
function countedIn({ value, count }: ValueCount, { query }: IndexScan, { name }: SortKey): ValueCount {
  const at = query.field === undefined ? 0 : fieldsOf(query.field).indexOf(name);
  return { value: value.split(betweenValues)[at] ?? value, count };
}

/** What is no scalar, or a longer string than an index has, is counted together and last. */
function countsText(values: readonly ValueCount[]): string {
  const texts: string[] = [];
  let others = 0;
  for (const { value, count } of values) {
    const text = decodeSortValue(value);
    if (text === undefined) others += count;
    else texts.push(`{"value":${text},"count":${count}}`);
  }
  return [...texts, ...(others === 0 ? [] : [`{"count":${others}}`])].join(",");
}

function tooManyValues({ name }: SortKey): Problem {
  return new Problem(
    "query_too_expensive",
    `\`${name}\` has more than ${maxCountedValues} values here; add a filter, such as a range of \`${name}\``,
  );
}
