// Remembers which requests of a Project's annotation were of the future when they were seen. Their time comes, and the annotation may still be there:
// without that memory they would delete then what was kept long after they were written. Pure.

import type { DataRecord } from "../model/data-record.ts";
import { type DeletionRequest, requestSources } from "./deletion-requests.ts";

/** Of one annotation; one with as many is refused as a whole until some are gone from it. */
export const maxRefused = 50;

export interface SiftedRequests {
  /** What may be carried out once its time has come. */
  readonly valid: readonly DeletionRequest[];
  /** To be recorded; undefined = none. */
  readonly refused: readonly string[] | undefined;
}

/** Where there is no Project whose annotation could say otherwise, what was refused stays so. */
export function siftRequests(
  { refused: before = [] }: Pick<DataRecord, "refused">,
  requests: readonly DeletionRequest[],
  { hasProject }: { readonly hasProject: boolean },
): SiftedRequests {
  const own = requests.filter(({ source }) => source === requestSources.project);
  const standing = new Set(own.map(({ text }) => text));
  const early = own.filter(({ isEarly }) => isEarly === true).map(({ text }) => text);
  const remembered = before.filter((text) => !hasProject || standing.has(text));
  const refused = [...new Set([...remembered, ...early])].slice(0, maxRefused);
  const isFull = refused.length === maxRefused;
  const isValid = ({ text, source, isEarly }: DeletionRequest): boolean =>
    isEarly !== true && (source !== requestSources.project || !(isFull || refused.includes(text)));
  return { valid: requests.filter(isValid), refused: refused.length === 0 ? undefined : refused };
}
