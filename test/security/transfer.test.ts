// Exports and imports that are made to take the memory or the time of a replica, against one of its
// own over real Redis JSON.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AttackedReplica, limits, startAttacked } from "../support/fleet/attacked-replica.ts";
import { memoryInUse } from "../support/fleet/memory-in-use.ts";
import { apikey, project, withKey, withLimits, withResource, withRootKey } from "../support/http/projects.ts";
import { openRaw, type RawConnection } from "../support/http/raw-http.ts";
import { eventually } from "../support/time/eventually.ts";

const mebibyte = 1024 * 1024;
const loud = project(
  "loud",
  withKey("loud", { role: "Administrators" }),
  withLimits({ maxBodyBytes: 8 * mebibyte, maxDocumentBytes: 8 * mebibyte }),
  withRootKey("doc"),
  withResource("anything"),
);
const as = apikey("loud");
const many = 50;

let attacked: AttackedReplica;

beforeAll(async () => {
  attacked = await startAttacked(loud);
});

afterAll(() => attacked.stop());

function begin(request: string, headers: string): RawConnection {
  const connection = openRaw(attacked.replica.origin);
  connection.write(`${request} HTTP/1.1\r\nHost: a\r\nAuthorization: ${as}\r\n${headers}\r\n\r\n`);
  return connection;
}

/** Reads the first bytes of the response, and no more. */
async function beginExport(): Promise<{ readonly socket: Socket; readonly first: string }> {
  const { hostname, port } = new URL(attacked.replica.origin);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.write(`GET /default/loud/export HTTP/1.1\r\nHost: a\r\nAuthorization: ${as}\r\n\r\n`);
  const [first] = await once(socket, "data");
  return { socket: socket.pause(), first: String(first) };
}

describe("imports", () => {
  it("of lines that don't end hold no more than bodies may", async () => {
    const bytes = 7 * mebibyte;
    const fitting = Math.floor(limits.bodies / 2 / bytes);
    await attacked.survives(async () => {
      const headers = `Content-Type: application/x-ndjson\r\nContent-Length: ${8 * mebibyte}`;
      const begun = Array.from({ length: many }, () => begin("POST /default/loud/import", headers));
      for (const connection of begun) connection.write(Buffer.alloc(bytes, "x"));
      let refused = 0;
      const enough = new Promise<void>((resolve) => {
        const count = (): void => {
          refused += 1;
          if (refused === many - fitting) resolve();
        };
        for (const connection of begun) connection.arrived('"code":"body_busy"').then(count, () => undefined);
      });
      await enough;
      for (const connection of begun) connection.destroy();
    });
  });
});

describe("exports", () => {
  it("of large objects that nobody reads hold no more than responses may", async () => {
    const body = { text: "x".repeat(3 * mebibyte) };
    for (let made = 0; made < 10; made += 1) {
      expect((await attacked.send("loud", "/api/anything", { method: "POST", body, as })).status).toBe(201);
    }
    await attacked.survives(async () => {
      const unread = await Promise.all(Array.from({ length: many }, beginExport));
      // Each goes on as far as it may.
      for (let asked = 0; asked < many; asked += 1) await attacked.send("loud", "/json/doc");
      const sent = unread.filter(({ first }) => first.startsWith("HTTP/1.1 200 "));
      expect(sent).toHaveLength(4);
      expect((await memoryInUse(attacked.replica)).external).toBeLessThan(64 * mebibyte);
      for (const { socket } of unread) socket.destroy();
      await eventually(async () => expect((await attacked.send("loud", "/export", { as })).status).toBe(200));
    });
  });
});
