// Clients that follow changes and mean harm, or are in the way: what they can't do.

import { afterEach, beforeEach, expect, it } from "vitest";
import { closeStreams, follow } from "../support/http/event-stream.ts";
import { apikey, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { openRaw } from "../support/http/raw-http.ts";
import { describeServedEmbedded, type Served } from "../support/http/served.ts";

const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
const alice = apikey("alice");
const shop = project(
  "shop",
  withKey("alice"),
  withResource("books", {
    schema: { properties: { title: { type: "string" } } },
    scope: { read: "All", write: "All" },
    changes,
  }),
  withRootKey("settings", { initialValue: "{}", changes }),
);

afterEach(closeStreams);

describeServedEmbedded("those who follow changes", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
  });
  const positionOf = async (path: string): Promise<string> =>
    encodeURIComponent(String((await served.send(path, { as: alice })).headers["changes-position"]));

  it("can't write lines of a stream into an address", async () => {
    const lines = encodeURIComponent('"}\n\nevent: put\ndata: {"is":"forged"}\n\n');
    const position = await positionOf("/api/books");
    const ofObject = await follow(served, `/api/books/${lines}?_position=${position}`, { as: alice });
    expect(ofObject.status).toBe(404);
    const ofValue = await follow(served, `/json/settings/${lines}`, { as: alice });
    const [sent] = await ofValue.changes(1);
    expect(sent).toMatchObject({ event: "delete", data: { path: [decodeURIComponent(lines)] } });
    expect(ofValue.text()).not.toMatch(/^event: put/m);
  });

  it.each(["with it", "once it has begun"])(
    "keep no request waiting behind a stream that was sent %s",
    async (when) => {
      const request = (accept: string): string =>
        `GET ${served.base}/api/books HTTP/1.1\r\nHost: x\r\nAuthorization: ${alice}\r\nAccept: ${accept}\r\n\r\n`;
      const raw = openRaw(served.origin);
      const isSentLater = when !== "with it";
      raw.write(request("text/event-stream") + (isSentLater ? "" : request("application/json")));
      if (isSentLater) {
        await raw.arrived("event: bookmark");
        raw.write(request("application/json"));
      }
      expect(await raw.closed()).not.toContain("items");
    },
  );

  it("don't keep a replica from stopping while they wait for a response", async () => {
    const path = `/api/books?_position=${await positionOf("/api/books")}`;
    const waiting = served.send(path, { as: alice, headers: { prefer: "wait=30" } });
    // Once this is there, the request before it waits.
    await follow(served, "/api/books", { as: alice });
    await served.plane.close();
    expect((await waiting).json()).toMatchObject({ changes: [] });
  });
});
