import { beforeAll, describe, expect, test } from "vitest";
import { type Manifest, validateManifest } from "../../core/manifests/validate-manifest.ts";
import { type TableCase, tableCases } from "../manifests/table.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { type ApiAnswer, apiCall } from "../support/kubernetes/api-server/api-server-call.ts";

/** Older servers say the field and the kind of mistake, and word the rest otherwise. */
const isOlder = Boolean(process.env["JSONPLANE_KUBERNETES_VERSION"]);
let server: TestApiServer;

beforeAll(async () => {
  server = await sharedApiServer();
});

describe("a cluster says of a manifest what dev mode and `jsonplane validate` say", () => {
  for (const each of tableCases()) {
    test(each.title, async () => {
      const { answer, former } = await dryRun(each);
      const here = validateManifest(each.object, former);
      expect(messagesOf(answer)).toEqual(here.ok ? [] : here.problems.map(({ message }) => sayAlike(message)).sort());
      expect(answer.status < 300).toBe(each.refused === undefined);
      if (!here.ok) return;
      // With every default, as compile will see it.
      expect(answer.body["spec"]).toEqual(here.object.spec);
    });
  }
});

interface DryRun {
  readonly answer: ApiAnswer;
  /** The former version as the checks of this repository know it. */
  readonly former: Manifest | undefined;
}

async function dryRun({ object, former }: TableCase): Promise<DryRun> {
  const folder = `/apis/jsonplane.io/v1alpha1/namespaces/default/${String(object["kind"]).toLowerCase()}s`;
  const strictly = "?dryRun=All&fieldValidation=Strict";
  if (former === undefined) {
    return { answer: await apiCall(server, folder + strictly, { method: "POST", body: object }), former: undefined };
  }
  const here = validateManifest(former);
  const made = await apiCall(server, `${folder}?fieldValidation=Strict`, { method: "POST", body: former });
  if (!here.ok || made.status !== 201) expect.fail(`the former manifest was refused: ${made.body.message}`);
  const { name, resourceVersion } = made.body.metadata ?? {};
  const metadata = { ...(object["metadata"] as object), resourceVersion };
  const path = `${folder}/${name}`;
  try {
    const body = { ...object, metadata };
    return { answer: await apiCall(server, path + strictly, { method: "PUT", body }), former: here.object };
  } finally {
    await apiCall(server, path, { method: "DELETE" });
  }
}

/** One text for each mistake, `field: what is wrong with it`, sorted. */
function messagesOf({ status, body }: ApiAnswer): readonly string[] {
  if (status < 300) return [];
  // Strict decoding comes before all other checks and answers with a text alone.
  const unknown = body.message?.match(/unknown field "[^"]*"/g);
  if (unknown) return [...unknown].sort();
  const causes = (body.details?.causes ?? []).map(({ field = "", message = "" }) => ({ field, message }));
  const places = causes.map(({ field }) => field);
  const worthComparing = causes.filter(({ field, message }) => {
    // "some validation rules were not checked", and a second word on a number of the wrong type.
    if (field === "<nil>") return false;
    // A value of the wrong type is not one of the enumeration either, which says nothing more.
    const repeated = places.filter((path) => path === field).length > 1;
    return !(repeated && message.startsWith("Unsupported value")) && !(repeated && message.includes("RFC 1123"));
  });
  return worthComparing.map(({ field, message }) => sayAlike(`${field}: ${message}`)).sort();
}

/**
 * The few mistakes that both name at the same field in words of their own: each becomes one text.
 * Everything else has to be the same, letter by letter.
 */
function sayAlike(message: string): string {
  const alike: readonly (readonly [RegExp, string])[] = [
    // The server names all of them, we name the one.
    [/^metadata\.(labels|annotations|finalizers).*?: Invalid value: ("[^"]*"): .*$/, "metadata.$1: Invalid value: $2"],
    // Go's names of JSON's types.
    [/"float64"/g, '"number"'],
    [/must be of type int(32|64):/, "must be of type integer:"],
    // The server finds out that a time is none while it evaluates a rule about it.
    [/^(spec\.expiresAt: Invalid value): .*(evaluating rule|must be of type string|date-time).*$/, "$1: not a time"],
  ];
  const text = alike.reduce((said, [theirs, ours]) => said.replace(theirs, ours), message);
  return isOlder ? text.split(": ", 2).join(": ") : text;
}
