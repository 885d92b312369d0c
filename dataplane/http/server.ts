// The public port: a fastify server that hands every request, whatever its path, to the pipeline, and sends what it answers
// or the problem that it threw. Routing happens on the raw path, which fastify's router would decode.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { Problem } from "../../core/errors/problem.ts";
import { problemResponse } from "../../core/http/problem-response.ts";
import type { Logger } from "../../core/log/logger.ts";
import { createMemoryBudget, type MemoryLimits } from "../admission/memory-budgets.ts";
import { rateHeaders } from "../admission/rate-limits.ts";
import { preferTargetAuthority, settleForwarded, trustedProxies } from "../route/request-origin.ts";
import {
  type ClosedFor,
  type Connections,
  createConnections,
  type ObserveRefusal,
  requestIdOf,
} from "./connections.ts";
import { corsHeaders } from "./cors.ts";
import type { Ending, Exchange } from "./exchange.ts";
import type { HttpResponse } from "./response.ts";
import { createUnreadResponses, largeBytes, maxBytesPerCharacter, type UnreadResponses } from "./unread-responses.ts";

export interface HttpServerOptions {
  readonly serve: (exchange: Exchange) => Promise<HttpResponse>;
  /** Takes the place of `serve` for these raw targets. */
  readonly beside?: { readonly targets: RegExp; readonly serve: HttpServerOptions["serve"] };
  readonly observe: (exchange: Exchange, ending: Ending) => void;
  readonly observeRefusal: ObserveRefusal;
  /** A connection was closed without a response. */
  readonly observeClosed: (reason: ClosedFor) => void;
  readonly memory: MemoryLimits;
  /** `stopping` once clients are to turn to another replica: each response ends its connection. */
  readonly lifecycle: { readonly stopping: boolean };
  readonly logger: Logger;
  /** Addresses or networks whose X-Forwarded-* headers are believed; empty = none. */
  readonly trustedProxies: readonly string[];
  /** Milliseconds for a whole request to arrive, 30,000 by default. */
  readonly requestTimeoutMs?: number;
}

/** Above the 8 KiB that a path may have (request-target.ts), so that a longer path is answered with 414 and not cut off. */
export const maxHeaderBytes = 32 * 1024;
/** Connections that the kernel takes while the event loop is busy; it caps the figure at `net.core.somaxconn`. Node asks for 511. */
export const maxWaitingConnections = 4_096;
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const requestTimeout = options.requestTimeoutMs ?? 30_000;
  const isTrusted = trustedProxies(options.trustedProxies);
  const { observeRefusal, observeClosed, memory } = options;
  // All requests that wait for their turn are of one owner: whose they are is not known before they are routed.
  const pipelined = createMemoryBudget(memory.pipelined).of(connectionOwner);
  const connections = createConnections({
    observeRefusal,
    observeClosed,
    maxConnections: memory.connections,
    pipelined,
  });
  const unread = createUnreadResponses(createMemoryBudget(memory.responses), () => observeClosed("unread"));
  const sender: Sender = { options, unread };
  const app = Fastify({
    logger: false,
    trustProxy: options.trustedProxies.length > 0 ? isTrusted : false,
    // One route for all paths: the pipeline routes on the raw target, which fastify keeps as `originalUrl`.
    rewriteUrl(request) {
      // The first moment at which a request is seen, before anything reads its host.
      if (!request.url?.startsWith("/")) preferTargetAuthority(request);
      const { "x-forwarded-host": host, "x-forwarded-proto": scheme } = request.headers;
      if (host !== undefined || scheme !== undefined) settleForwarded(request, isTrusted);
      return "/";
    },
    // While it closes, requests that had arrived are still served; fastify would answer 503 in a shape of its own.
    return503OnClosing: false,
    genReqId: requestIdOf,
    requestTimeout,
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(1_000, requestTimeout),
      // Two Host or two Authorization headers become one that is refused, where Node would go by the first and a proxy by the last.
      joinDuplicateHeaders: true,
      // Node would refuse a request without Host with a response that has no body.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => connections.refuse(error, socket),
    frameworkErrors: (error, request, reply) => {
      sendProblem(sender, exchangeOf(request), reply, error);
    },
  });

  const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const exchange = exchangeOf(request);
    const turn = connections.turn(request.raw);
    exchange.bodyRefused = connections.track(request.raw, reply.raw);
    if (turn !== undefined && !(await turn)) return reply.hijack();
    if (request.headers.expect !== undefined && expectsContinue(request.raw)) {
      exchange.sendContinue = () => {
        delete exchange.sendContinue;
        reply.raw.writeContinue();
      };
    }
    try {
      const { serve } = options.beside?.targets.test(exchange.rawUrl) === true ? options.beside : options;
      return send(sender, exchange, reply, await serve(exchange));
    } catch (error) {
      return sendProblem(sender, exchange, reply, error);
    }
  };
  // Before fastify looks at the body and its type: the pipeline reads both once the caller is known to be allowed.
  app.addHook("onRequest", handle);
  // Never reached, because the hook answers. With a route for its method a request is looked up once; without one, fastify looks
  // for a handler of unknown routes as well before it comes to the hook.
  app.route({ method: methods, url: "/", handler: handle });
  app.setErrorHandler((error, request, reply) => sendProblem(sender, exchangeOf(request), reply, error));
  handleServerEvents(app, connections);
  app.server.on("connection", (socket: Socket) => connections.opened(socket));
  app.addHook("preClose", async () => connections.endSilent());
  return app;
}

/** Requests that Node's server would otherwise answer by itself: not as problem details, or too early. */
function handleServerEvents({ server }: FastifyInstance, connections: Connections): void {
  const asUsual = (request: IncomingMessage, response: ServerResponse) =>
    void server.emit("request", request, response);
  // The body is asked for when it is read, so that no client sends one that is refused unread.
  server.on("checkContinue", asUsual);
  server.on("checkExpectation", asUsual);
  server.on("connect", (_request: IncomingMessage, socket: Socket) => {
    connections.refuse(new Problem("invalid_request", "This server is not a proxy; CONNECT is not supported"), socket);
  });
}

function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === "1.1" && headers.expect.toLowerCase() === "100-continue";
}

function exchangeOf(request: FastifyRequest): Exchange {
  return { request, requestId: request.id, rawUrl: request.originalUrl, startedAt: performance.now() };
}

interface Sender {
  readonly options: HttpServerOptions;
  readonly unread: UnreadResponses;
}

/** Of a text that may have as many bytes as a large response. */
const largeCharacters = largeBytes / maxBytesPerCharacter;
/** Of what belongs to no project. */
const connectionOwner = Object.freeze({});

function send(sender: Sender, exchange: Exchange, reply: FastifyReply, response: HttpResponse): FastifyReply {
  const { text: json = "" } = response;
  if (json.length >= largeCharacters && exchange.request.method === "GET") {
    sender.unread.requireRoom(exchange.project ?? connectionOwner, json);
  }
  const headers = commonHeaders(exchange);
  headers["Cache-Control"] = response.secret ? "no-store" : "private, no-cache";
  if (response.headers) Object.assign(headers, response.headers);
  if (response.text !== undefined) headers["Content-Type"] = "application/json";
  if (response.file !== undefined) headers["Content-Type"] = response.file.type;
  const text = response.text ?? response.file?.bytes;
  return write(sender, exchange, reply, { status: response.status, code: undefined, headers, text });
}

function sendProblem(sender: Sender, exchange: Exchange, reply: FastifyReply, error: unknown): FastifyReply {
  const path = exchange.rawUrl.split("?", 1)[0] ?? "";
  if (error instanceof Problem) exchange.problem = error;
  const problem = problemResponse(error, { path, requestId: exchange.requestId });
  if (problem.defect) logDefect(sender.options.logger, exchange, error);
  const headers = Object.assign(commonHeaders(exchange), problem.headers);
  headers["Cache-Control"] = "no-store";
  headers["Content-Type"] = "application/problem+json";
  return write(sender, exchange, reply, { status: problem.status, code: problem.code, headers, text: problem.text });
}

function commonHeaders(exchange: Exchange): Record<string, string | number> {
  const headers: Record<string, string | number> = {
    "X-Request-Id": exchange.requestId,
    Vary: "Authorization, Origin",
  };
  const { origin } = exchange.request.headers;
  if (exchange.project && origin !== undefined)
    Object.assign(headers, corsHeaders(exchange.project.config.cors, origin));
  if (exchange.rates) Object.assign(headers, rateHeaders(exchange.rates));
  return headers;
}

interface Outgoing {
  readonly status: number;
  readonly code: string | undefined;
  readonly headers: Record<string, string | number>;
  readonly text: string | Uint8Array | undefined;
}

/** One writeHead with every header: fastify's own way, header by header, costs a tenth of a small response. */
function write({ options, unread }: Sender, exchange: Exchange, reply: FastifyReply, outgoing: Outgoing): FastifyReply {
  const { status, code, headers, text } = outgoing;
  reply.hijack();
  const response: ObservedResponse = reply.raw;
  // Where the head of a response can't be written, the problem that says so is the second one: it ends the same request.
  const isFirst = response[ending] === undefined;
  response[ending] = { options, exchange, status, code };
  if (response.destroyed) {
    // The client left before its response was ready, and "close" has been already.
    observeEnd.call(response);
    return reply;
  }
  if (isFirst) response.on("close", observeEnd);
  if (options.lifecycle.stopping) response.shouldKeepAlive = false;
  if (text !== undefined) {
    headers["Content-Length"] = Buffer.byteLength(text);
    // Stored JSON is what its writer makes of it: no browser is to take it for a page or a script.
    headers["X-Content-Type-Options"] = "nosniff";
  }
  response.writeHead(status, headers);
  // Node leaves the body out of a response to HEAD by itself.
  // A client that still waits to be asked sends no body.
  const arrives = !exchange.request.raw.complete && exchange.sendContinue === undefined;
  if (response.shouldKeepAlive || !arrives || text === undefined) response.end(text);
  else endAfterBody(exchange, response, text);
  const unreadBytes = response.socket?.writableLength ?? 0;
  if (unreadBytes > 0) unread.wait(exchange.project ?? connectionOwner, response, unreadBytes);
  return reply;
}

const ending = Symbol("ending");

/** A response that carries what is to be observed at its end: one listener for all costs less than a closure for each. */
interface ObservedResponse extends ServerResponse {
  [ending]?: {
    readonly options: HttpServerOptions;
    readonly exchange: Exchange;
    readonly status: number;
    readonly code: string | undefined;
  };
}

function observeEnd(this: ObservedResponse): void {
  const ended = this[ending];
  if (ended === undefined) return;
  const { options, exchange, status, code } = ended;
  options.observe(exchange, { status, code, seconds: (performance.now() - exchange.startedAt) / 1000 });
}

/**
 * Ends a response that closes its connection while the request still arrives. Closed over unread bytes, the connection would be reset, and
 * the client would lose the response: so the rest of the request is read and thrown away, however long it takes to arrive.
 */
function endAfterBody({ request, bodyRefused }: Exchange, response: ServerResponse, text: string | Uint8Array): void {
  response.write(text);
  const end = (): void => void response.end();
  request.raw.once("end", end).once("close", end).resume();
  void bodyRefused?.then(end);
}

function logDefect(logger: Logger, exchange: Exchange, error: unknown): void {
  const { name, stack } = error instanceof Error ? error : { name: typeof error, stack: undefined };
  // Frames only: a message could quote what a caller sent.
  const frames = stack?.slice(stack.indexOf("\n    at ") + 1);
  logger.error("Request failed", { requestId: exchange.requestId, error: name, stack: frames });
}
