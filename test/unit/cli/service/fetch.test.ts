import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { fetch } from "../../../../cli/service/fetch.ts";

const size = 64 * 1024;

it("reads a response at its own pace, also when the server has closed the connection", async () => {
  const closing = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\nConnection: close\r\n\r\n`);
      socket.end(Buffer.alloc(size, "a"), closing.resolve);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await closing.promise;
  // What has arrived is noticed in turns of this process.
  for (let turns = 0; turns < 20; turns += 1) await turn();
  let read = 0;
  for await (const bytes of body ?? []) read += bytes.length;
  server.close();
  expect(read).toBe(size);
});
