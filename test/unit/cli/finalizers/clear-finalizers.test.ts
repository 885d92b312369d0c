import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClearOptions, clearFinalizers } from "../../../../cli/finalizers/run-clear.ts";
import { finalizer } from "../../../../operator/deletion/finalizers.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import { createRestApi } from "../../../../operator/kube/rest-api.ts";
import { noFaults } from "../../../support/fake-api/fake-api-faults.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";

let server: FakeApiServer;
let api: KubeApi;

beforeEach(async () => {
  server = await startFakeApiServer();
  const credentials = { server: new URL(server.url), headers: {}, tls: {} };
  api = createRestApi({
    source: { namespace: "default", current: async () => credentials, forget: () => undefined },
    observe: () => undefined,
    monotonic: () => 0,
  });
});
afterEach(async () => {
  await api.close();
  await server.close();
});

function make(
  plural: string,
  name: string,
  { namespace = "shop", finalizers = [finalizer], deleted = true } = {},
): void {
  server.objects.create(`jsonplane.io/${plural}`, { metadata: { name, namespace, finalizers }, spec: {} });
  if (deleted) server.objects.remove(`jsonplane.io/${plural}`, namespace, name);
}

async function clear(options: Partial<ClearOptions> = {}) {
  const lines: string[] = [];
  const usual = { api, namespace: "shop", kind: undefined, dryRun: false, force: false };
  const code = await clearFinalizers({ ...usual, out: (line) => void lines.push(line), ...options });
  return { code, lines };
}

const remains = "Their data stay in Redis: see docs/reference/uninstall.md for what remains";
const present = (plural: string) => server.objects.all(`jsonplane.io/${plural}`).map(({ metadata }) => metadata.name);

describe("finalizers clear", () => {
  it("lets deleted objects of every kind with data go, and says so", async () => {
    make("projects", "bookshop");
    make("apiresources", "books");
    make("rootkeys", "flags");
    make("apiresources", "others", { finalizers: [finalizer, "example.org/other"] });
    make("projects", "elsewhere", { namespace: "bank" });
    expect(await clear()).toEqual({
      code: 0,
      lines: [
        "Project shop/bookshop: its finalizer is removed, and the object is gone",
        "ApiResource shop/books: its finalizer is removed, and the object is gone",
        expect.stringContaining("ApiResource shop/others: its finalizer is removed"),
        "RootKey shop/flags: its finalizer is removed, and the object is gone",
        "4 cleared",
        remains,
      ],
    });
    expect([present("projects"), present("rootkeys")]).toEqual([["elsewhere"], []]);
  });

  it("changes nothing with --dry-run", async () => {
    make("projects", "bookshop");
    const { revision } = server.objects;
    const { code, lines } = await clear({ dryRun: true });
    expect([code, lines.slice(0, 2)]).toEqual([
      0,
      ["Project shop/bookshop: its finalizer would be removed", "1 would be cleared"],
    ]);
    expect(server.objects.revision).toBe(revision);
  });

  it("leaves objects alone that nobody has deleted, unless it is forced", async () => {
    make("projects", "bookshop", { deleted: false });
    expect((await clear()).lines).toEqual([
      "Project shop/bookshop: left alone, nobody has deleted it; --force takes its finalizer all the same",
      "0 cleared, 1 left alone",
    ]);
    expect((await clear({ force: true })).lines[0]).toBe("Project shop/bookshop: its finalizer is removed");
    expect(server.objects.get("jsonplane.io/projects", "shop", "bookshop")?.metadata.finalizers).toEqual([]);
  });

  it("looks at one kind, or at all namespaces, when told so", async () => {
    make("projects", "bookshop");
    make("rootkeys", "flags", { namespace: "bank" });
    expect((await clear({ kind: "RootKey" })).lines).toEqual([`No object has the finalizer ${finalizer}`]);
    expect((await clear({ kind: "RootKey", namespace: undefined })).lines[0]).toContain("RootKey bank/flags");
    expect(present("projects")).toEqual(["bookshop"]);
  });

  it("says what it takes when it may not, and fails", async () => {
    make("projects", "bookshop");
    server.setFaults(({ verb }) => (verb === "apply" ? { kind: "status", code: 403, reason: "Forbidden" } : undefined));
    const { code, lines } = await clear();
    expect(code).toBe(1);
    expect(lines[0]).toMatch(
      /^Project shop\/bookshop: can't be changed: .*; requires the verbs get, list, patch and update/,
    );
    expect(lines[1]).toBe("0 cleared, 1 failed");
  });

  it("says that a kind can't be listed, and goes on with the others", async () => {
    make("rootkeys", "flags");
    server.setFaults(({ verb, collection }) => {
      if (verb !== "list") return undefined;
      if (collection.endsWith("/projects")) return { kind: "status", code: 403, reason: "Forbidden" };
      return collection.endsWith("/apiresources") ? { kind: "status", code: 404, reason: "NotFound" } : undefined;
    });
    const { code, lines } = await clear();
    expect(code).toBe(1);
    expect(lines[0]).toContain("Project: can't be listed: ");
    expect(lines[1]).toBe("ApiResource: the API server has no apiresources.jsonplane.io; its CRD is not installed");
    expect(lines[2]).toContain("RootKey shop/flags: its finalizer is removed");
  });

  it("looks again at an object that changes meanwhile, and never touches its successor", async () => {
    make("projects", "bookshop");
    let conflicts = 2;
    server.setFaults(({ verb }) => {
      if (verb !== "apply" || conflicts === 0) return undefined;
      conflicts -= 1;
      return { kind: "status", code: 409, reason: "Conflict" };
    });
    expect((await clear()).lines[0]).toContain("Project shop/bookshop: its finalizer is removed");
    make("projects", "bookshop");
    server.setFaults(({ verb }) => {
      if (verb !== "apply") return undefined;
      server.setFaults(noFaults);
      const [object] = server.objects.all("jsonplane.io/projects");
      if (object)
        server.objects.replace("jsonplane.io/projects", {
          ...object,
          metadata: { ...object.metadata, finalizers: [] },
        });
      make("projects", "bookshop", { deleted: false });
      return undefined;
    });
    expect((await clear({ force: true })).lines[0]).toBe("Project shop/bookshop: it is gone by now");
    expect(server.objects.get("jsonplane.io/projects", "shop", "bookshop")?.metadata.finalizers).toEqual([finalizer]);
  });
});
