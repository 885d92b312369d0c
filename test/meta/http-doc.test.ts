// The numbers and codes of the pages about HTTP are those of the code, and fields that pages name
// are fields of the CRDs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorCatalogue } from "../../core/errors/catalogue.ts";
import { filterOperators } from "../../core/filter-operators.ts";
import { maxWaiting, maxWaitMs } from "../../dataplane/admission/fair-share.ts";
import { maxPipelined } from "../../dataplane/http/connections.ts";
import { maxHeaderBytes } from "../../dataplane/http/server.ts";
import { scanBytes, scanLimit } from "../../dataplane/objects/list/filter-and-sort.ts";
import { maxFilters, maxListedValues } from "../../dataplane/objects/list/filters.ts";
import { maxFields, maxParameters } from "../../dataplane/objects/list/query-parameters.ts";
import { maxSortKeys } from "../../dataplane/objects/list/sort.ts";
import { maxPathBytes, maxSegmentBytes, maxSegments } from "../../dataplane/route/request-target.ts";
import { maxDepth } from "../../dataplane/store/ports/documents.ts";
import { type CrdNode, readCrds, root } from "../../tools/read-crds.ts";
import { limits } from "../support/fleet/attacked-replica.ts";
import { documentationPages } from "./documentation-pages.ts";

const mebibyte = 1024 * 1024;
const page = (path: string): string => readFileSync(join(root, path), "utf8");
const inWords = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / (1024 * 1024)} MiB`;
const grouped = (count: number): string => count.toLocaleString("en");

describe("docs/reference/http.md", () => {
  it("states the limits as they are", () => {
    const text = page("docs/reference/http.md");
    for (const row of [
      `| path | ${inWords(maxPathBytes)} | 414 |`,
      `| one segment, decoded | ${inWords(maxSegmentBytes)} | 414 |`,
      `| segments of a path, the project's included | ${maxSegments} | 414 |`,
      `| parameters of a query | ${maxParameters} | 400 |`,
      `| request line and headers | ${inWords(maxHeaderBytes)} | 431 |`,
      `| requests of one connection that wait for an earlier one's response | ${maxPipelined} |`,
      `| ${grouped(maxWaiting)}, and ${maxWaitMs / 1_000} s each | 503 \`project_busy\` |`,
      `| nesting of JSON | ${maxDepth} levels | 400 |`,
    ]) {
      expect(text).toContain(row);
    }
  });
});

describe("docs/limits.md", () => {
  it("states what the chart's memory gives", () => {
    const text = page("docs/limits.md");
    for (const row of [
      `| a half, 48 KiB each | ${grouped(limits.connections)} |`,
      `| an eighth | ${Math.floor(limits.bodies / mebibyte)} MiB |`,
      `| a fifth | ${Math.floor(limits.responses / mebibyte)} MiB |`,
      `| a 64th | ${Math.floor(limits.pipelined / 2 / mebibyte)} MiB, 8 KiB each`,
    ]) {
      expect(text).toContain(row);
    }
  });
});

describe("docs/queries.md", () => {
  it("lists every operator, and the limits as they are", () => {
    const text = page("docs/queries.md");
    for (const operator of Object.keys(filterOperators).filter((name) => name !== "eq"))
      expect(text).toContain(`\`:${operator}`);
    expect(text).toContain(`${maxListedValues} values at most`);
    expect(text).toContain(`A list takes ${maxFilters} filters`);
    expect(maxSortKeys).toBe(4);
    expect(text).toContain("sorts by up to four fields");
    expect(text).toContain(`${maxFields} fields at most`);
    expect(text).toContain(`${grouped(scanLimit)} objects and ${inWords(scanBytes)}`);
  });
});

describe("every page", () => {
  it("names a code beside the status that it has", () => {
    const wrong = documentationPages.flatMap((path) =>
      [...page(path).matchAll(/\b([45]\d\d) `([a-z_]+)`/g)]
        .filter(([, status, code]) => {
          const entry = (errorCatalogue as Readonly<Record<string, { readonly status: number }>>)[code ?? ""];
          return entry?.status !== Number(status);
        })
        .map(([text]) => `${path}: ${text}`),
    );
    expect(wrong).toEqual([]);
  });

  it("names only fields of spec that some kind has", async () => {
    const schemas = (await readCrds()).map(({ schema }) => schema);
    // Decisions name what they removed.
    const present = documentationPages.filter((path) => !path.startsWith("docs/adr/"));
    const unknown = present.flatMap((path) =>
      [...page(path).matchAll(/`(spec(?:\.[a-z]\w*)+)`/g)]
        .filter(([, field = ""]) => !schemas.some((schema) => hasField(schema, field.split("."))))
        .map(([, field]) => `${path}: ${field}`),
    );
    expect(unknown).toEqual([]);
  });
});

function hasField(node: CrdNode | undefined, [first, ...rest]: readonly string[]): boolean {
  if (node === undefined || first === undefined) return node !== undefined;
  return hasField(node.properties?.[first], rest);
}
