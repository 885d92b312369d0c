// The conformance script's own rules, against what is served here, and against what differs.

import { expect, it } from "vitest";
import { checkChanges } from "../conformance/check-changes.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedEmbedded, describeServedOnBothStores, type Served } from "../support/http/served.ts";

const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
const schema = { required: ["title"], properties: { title: { type: "string" } } };
const shop = project(
  "shop",
  withKey("ci"),
  withResource("books", { schema, changes }),
  withResource("quiet", { schema }),
);

function targetOf({ origin, base }: Served) {
  const at = (resource: string) => `${origin}${base}/api/${resource}`;
  return { url: at("books"), unlogged: at("quiet"), authorization: apikey("ci") };
}

/** Changes what a stream sends. */
function altered(alter: (text: string) => string): typeof fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.headers.get("content-type") !== "text/event-stream") return response;
    const body = response.body
      ?.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TransformStream<string, string>({ transform: (text, sink) => sink.enqueue(alter(text)) }));
    return new Response(body?.pipeThrough(new TextEncoderStream()) ?? null, response);
  };
}

const faults: readonly (readonly [string, (text: string) => string, RegExp])[] = [
  ["deletions are not told", (text) => text.replaceAll("event: delete", "event: bookmark"), /a deleted one a delete/],
  ["a put has no id", (text) => text.replaceAll(/(event: put\n)id: .*\n/g, "$1"), /have an id/],
  ["a reset keeps the position", (text) => text.replaceAll(/(event: reset\n)id:\n/g, "$1"), /a reset with an empty id/],
  ["an entity tag is another one", (text) => text.replaceAll('"etag":"', '"etag":"W/'), /a created object is a put/],
];

describeServedOnBothStores("the conformance of changes", (serve) => {
  it("follows every rule, and leaves no object behind", async () => {
    const served = await serve(shop);
    const checked = await checkChanges(targetOf(served));
    expect(checked.filter(({ differs }) => differs !== undefined)).toEqual([]);
    expect(checked.length).toBeGreaterThan(18);
    const left = await served.send("/api/books", { as: apikey("ci") });
    expect(left.json()).toMatchObject({ count: 0 });
  });
});

describeServedEmbedded("the conformance of changes", (serve) => {
  it("is not given to a collection without a log, at once", async () => {
    const { unlogged: url, authorization } = targetOf(await serve(shop));
    const differing = (await checkChanges({ url, authorization })).filter(({ differs }) => differs !== undefined);
    expect(differing.length).toBeGreaterThan(15);
  });

  it.each(faults)("is not given where %s", async (_, alter, rule) => {
    const target = { ...targetOf(await serve(shop)), fetch: altered(alter), patienceMs: 500 };
    const differing = (await checkChanges(target)).filter(({ differs }) => differs !== undefined);
    expect(differing.map(({ says }) => says).filter((says) => rule.test(says))).toHaveLength(1);
  });
});
