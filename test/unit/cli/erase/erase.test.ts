// Erasing what one owner has made, from a project that is played here.

import { describe, expect, it } from "vitest";
import { erase } from "../../../../cli/erase/erase.ts";
import { createService } from "../../../../cli/service/service.ts";
import { idIn } from "../../../../core/object-id.ts";
import { ExportWriter } from "../../../../core/transfer/export-writer.ts";
import { readExported } from "../../../support/transfer/exported.ts";

const base = "https://api.example.org/default/shop";
const owner = "user:ada";
const id = (number: number) => `0198c9a2-7d4e-7c3a-9b1f-${String(number).padStart(12, "0")}`;

interface Played {
  /** Objects of the owner, by resource. */
  readonly stored: Map<string, string[]>;
  /** Called before each DELETE. */
  readonly onDelete?: (path: string) => void;
  readonly description?: unknown;
  /** Bytes of the first answer to a request for an export; the next one is whole. */
  readonly cutAt?: number;
}

const patience = { pause: async () => undefined, note: () => undefined };

function exportOf(stored: Played["stored"], owners: { readonly owner?: string } = { owner }): Buffer {
  const writer = new ExportWriter();
  const parts = { resources: [...stored.keys()], rootKeys: [], ...owners };
  const head = writer.head({ exportedAt: "2026-01-01T00:00:00Z", ...parts });
  const objects = [...stored].map(([resource, ids]) =>
    writer.objects(
      resource,
      ids.map((each) => `{"id":"${each}","_metadata":{}}`),
    ),
  );
  return Buffer.concat([head, ...objects, writer.end(undefined)]);
}

/** What `_after` leaves of one resource. */
function restOf(stored: Played["stored"], path: string): Played["stored"] {
  const after = /&_after=notes%2F(.+)$/.exec(path)?.[1] ?? "";
  return new Map([...stored].map(([resource, ids]) => [resource, ids.filter((each) => each > after)]));
}

function played({ stored, onDelete, description, cutAt }: Played) {
  const remove = (path: string): Response => {
    onDelete?.(path);
    const [, resource = "", object = ""] = /^\/api\/([^/]+)\/(.+)$/.exec(path) ?? [];
    if (resource === "orders") return new Response('{"code":"insufficient_access"}', { status: 403 });
    const ids = stored.get(resource) ?? [];
    const at = ids.indexOf(object);
    if (at >= 0) ids.splice(at, 1);
    return new Response(undefined, { status: at < 0 ? 404 : 204 });
  };
  let end = cutAt;
  const answer = (path: string): Response => {
    if (path.startsWith("/export?_owner=user%3Aada")) {
      const bytes = new Uint8Array(exportOf(restOf(stored, path)).subarray(0, end));
      end = undefined;
      return new Response(bytes, { headers: { "content-type": "application/x-ndjson" } });
    }
    expect(path).toBe("/openapi.json");
    return new Response(JSON.stringify(description), { status: description ? 200 : 403 });
  };
  return createService({
    authorization: async () => "apikey k",
    signal: new AbortController().signal,
    fetch: async (to, { method } = {}) => {
      const path = String(to).slice(base.length);
      return method === "DELETE" ? remove(path) : answer(path);
    },
  });
}

async function run(project: Played, answer: boolean | undefined) {
  const lines: string[] = [];
  const out = (line: string) => void lines.push(line);
  const code = await erase(
    { service: played(project), out, confirmed: async () => answer, ...patience },
    { base, owner },
  );
  return { code, lines };
}

const description = {
  tags: [{ name: "api/notes" }, { name: "api/secret" }, { name: "json/settings" }, { name: "sessions" }],
  paths: { "/api/notes": { post: { "x-jsonplane-permission": "Anyone" } } },
};

describe("jsonplane erase", () => {
  it("counts, names what it can't find, and deletes nothing unless that is confirmed", async () => {
    const project = { stored: new Map([["notes", [id(1), id(2)]]]), description };
    const { code, lines } = await run(project, undefined);
    expect([code, lines]).toEqual([
      0,
      [
        "user:ada has created 2 objects: 2 of notes",
        "Not covered: root keys settings: a value doesn't say who wrote it",
        "Not covered: resources secret: nobody may read them",
        "Not covered: resources notes: anyone may create objects there without credentials, which have no owner",
        "Nothing was deleted; add --yes to delete",
      ],
    ]);
    expect((await run(project, false)).lines.at(-1)).toBe("Nothing was deleted");
    expect(project.stored.get("notes")).toHaveLength(2);
  });

  it("deletes also what the owner creates meanwhile", async () => {
    const stored = new Map([["notes", [id(1), id(2)]]]);
    let isAdded = false;
    const onDelete = () => {
      if (!isAdded) stored.get("notes")?.push(id(3));
      isAdded = true;
    };
    const { code, lines } = await run({ stored, onDelete }, true);
    expect(lines.slice(-2)).toEqual([
      "user:ada has created more meanwhile: 1 of notes",
      "Deleted 3 objects: 3 of notes",
    ]);
    expect([code, stored.get("notes")]).toEqual([0, []]);
  });

  it("says what it may not delete, and goes on with the rest", async () => {
    const stored = new Map([
      ["notes", [id(1)]],
      ["orders", [id(2), id(3)]],
    ]);
    const { code, lines } = await run({ stored }, true);
    expect(code).toBe(1);
    expect(lines.slice(-2)).toEqual([
      "Deleted 1 object: 1 of notes",
      expect.stringMatching(/^Left: 2 of orders, because .* answers 403 insufficient_access$/),
    ]);
  });

  it("deletes nothing where the answer has the objects of all owners", async () => {
    const stored = new Map([["notes", [id(1)]]]);
    const bytes = new Uint8Array(exportOf(stored, {}));
    const all = async () => new Response(bytes, { headers: { "content-type": "application/x-ndjson" } });
    const service = { ...played({ stored }), read: all };
    const erasing = erase({ service, out: () => undefined, confirmed: async () => true, ...patience }, { base, owner });
    await expect(erasing).rejects.toThrow("another export than the one asked for: that of all owners");
    expect(stored.get("notes")).toHaveLength(1);
  });

  it("goes on with an export that broke off, so that its file has all that is deleted", async () => {
    const stored = new Map([["notes", [id(1), id(2)]]]);
    const written: Buffer[] = [];
    const file = { write: async (bytes: Buffer) => void written.push(bytes), complete: async () => undefined };
    const service = played({ stored, cutAt: exportOf(stored).indexOf(id(2)) });
    await erase({ service, out: () => undefined, confirmed: async () => true, ...patience, file }, { base, owner });
    expect(readExported(Buffer.concat(written)).items.map((item) => item.kind === "object" && idIn(item.text))).toEqual(
      [id(1), id(2)],
    );
    expect(stored.get("notes")).toEqual([]);
  });
});
