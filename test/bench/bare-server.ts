// The yardstick: fastify and ioredis without a log, one Redis command per request. Prints its port
// when it listens.

import Fastify from "fastify";
import { Redis } from "ioredis";

const [redisUrl = ""] = process.argv.slice(2);
const redis = new Redis(redisUrl, { enableAutoPipelining: true, protocol: 2 });
const app = Fastify({ logger: false });
// The body's own text goes to Redis, as it does in the data plane.
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));

let created = 0;

app.get<{ Params: { id: string } }>("/get/:id", async (request, reply) => {
  const text = await redis.call("JSON.GET", `bare:${request.params.id}`);
  return reply.type("application/json").send(text);
});
app.get("/list", async (_request, reply) => {
  const keys = Array.from({ length: 10 }, (_, index) => `bare:${index}`);
  const texts = (await redis.call("JSON.MGET", ...keys, "$")) as string[];
  return reply.type("application/json").send(`{"items":[${texts.map((text) => text.slice(1, -1)).join(",")}]}`);
});
app.post("/create", async (request, reply) => {
  created += 1;
  await redis.call("JSON.SET", `bare:new:${created}`, "$", request.body as string);
  return reply.status(201).type("application/json").send(request.body);
});
app.put<{ Params: { id: string } }>("/put/:id", async (request, reply) => {
  await redis.call("JSON.SET", `bare:${request.params.id}`, "$", request.body as string);
  return reply.type("application/json").send(request.body);
});
app.get("/kv", async (_request, reply) => {
  const text = (await redis.call("JSON.GET", "bare:kv", '$["theme"]["colour"]')) as string;
  return reply.type("application/json").send(text.slice(1, -1));
});
app.post("/insert", async (request, reply) => {
  await redis.call("JSON.ARRAPPEND", "bare:kv", '$["list"]', request.body as string);
  return reply.status(201).type("application/json").send(request.body);
});

await app.listen({ host: "127.0.0.1", port: 0 });
process.once("disconnect", () => process.exit());
const address = app.server.address();
process.stdout.write(`${JSON.stringify({ port: typeof address === "object" ? address?.port : 0 })}\n`);
