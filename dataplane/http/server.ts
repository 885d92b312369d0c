// The public port: a fastify server that passes every request to the pipeline, and sends its
// response or problem. Routing uses the raw path, which fastify's router would decode.

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
import {
  type Answer,
  type Ending,
  emptyContext,
  type HttpResponse,
  type IncomingRequest,
  type RequestContext,
} from "./exchange.ts";
import { createUnreadResponses, largeBytes, maxBytesPerCharacter, type UnreadResponses } from "./unread-responses.ts";

export type Serve = (incoming: IncomingRequest) => Promise<Answer>;
export type ObserveEnding = (incoming: IncomingRequest, ending: Ending) => void;

export interface HttpServerOptions {
  readonly serve: Serve;
  /** Takes the place of `serve` for these raw targets. */
  readonly ownPages?: { readonly targets: RegExp; readonly serve: Serve };
  readonly observe: ObserveEnding;
  readonly observeRefusal: ObserveRefusal;
  /** A connection was closed without a response. */
  readonly observeClosed: (reason: ClosedFor) => void;
  readonly memory: MemoryLimits;
  /** `stopping` once clients are to turn to another replica: each response ends its connection. */
  readonly lifecycle: { readonly stopping: boolean };
  readonly logger: Logger;
  /** Addresses or networks whose X-Forwarded-* headers are believed; empty = none. */
  readonly trustedProxies: readonly string[];
  /** Milliseconds for a request to arrive completely, 30,000 by default. */
  readonly requestTimeoutMs?: number;
}

/** Above the limit of 8 KiB for a path (request-target.ts), so that a longer path gets 414. */
export const maxHeaderBytes = 32 * 1024;
/** Connections that the kernel accepts while the event loop is busy. Node's default is 511. */
export const maxWaitingConnections = 4_096;
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const requestTimeout = options.requestTimeoutMs ?? 30_000;
  const isTrusted = trustedProxies(options.trustedProxies);
  const { observeRefusal, observeClosed, memory } = options;
  // Before routing, nobody knows the project of a waiting request: all of them have one owner.
  const pipelined = createMemoryBudget(memory.pipelined).of(connectionOwner);
  const connections = createConnections({
    observeRefusal,
    observeClosed,
    maxConnections: memory.connections,
    pipelined,
  });
  const unread = createUnreadResponses(createMemoryBudget(memory.responses), () => observeClosed("unread"));
  const sender: Sender = { options, unread, connections };
  const app = Fastify({
    logger: false,
    trustProxy: options.trustedProxies.length > 0 ? isTrusted : false,
    // One route for all paths: the pipeline uses the raw target, which fastify keeps as
    // `originalUrl`.
    rewriteUrl(request) {
      // The first moment at which a request is seen, before anything reads its host.
      if (!request.url?.startsWith("/")) preferTargetAuthority(request);
      const { "x-forwarded-host": host, "x-forwarded-proto": scheme } = request.headers;
      if (host !== undefined || scheme !== undefined) settleForwarded(request, isTrusted);
      return "/";
    },
    // While it closes, arrived requests are still served; fastify's 503 has another shape.
    return503OnClosing: false,
    genReqId: requestIdOf,
    requestTimeout,
    http: {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(1_000, requestTimeout),
      // Two Host or Authorization headers are joined, and then refused. Node would use the first, a
      // proxy perhaps the last.
      joinDuplicateHeaders: true,
      // Node would refuse a request without Host with a response that has no body.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => connections.refuse(error, socket),
    frameworkErrors: (error, request, reply) => {
      sendProblem(sender, arrivedOf(request, reply), emptyContext, error);
    },
  });

  const handle = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const startedAt = performance.now();
    const earlierResponses = connections.afterEarlierResponses(request.raw);
    const bodyRefused = connections.track(request.raw, reply.raw);
    if (earlierResponses !== undefined && !(await earlierResponses)) return reply.hijack();
    const arrived = arrivedOf(request, reply, startedAt, bodyRefused);
    if (request.headers.expect !== undefined && expectsContinue(request.raw)) {
      arrived.sendContinue = () => {
        arrived.sendContinue = undefined;
        reply.raw.writeContinue();
      };
    }
    let context = emptyContext;
    try {
      const { serve } = options.ownPages?.targets.test(arrived.rawUrl) === true ? options.ownPages : options;
      const answer = await serve(arrived);
      context = answer.context;
      if ("error" in answer) throw answer.error;
      return send(sender, arrived, context, answer.response);
    } catch (error) {
      return sendProblem(sender, arrived, context, error);
    }
  };
  // Before fastify reads the body: the pipeline does so once the caller is known to be allowed.
  app.addHook("onRequest", handle);
  // Never called, because the hook answers. With a route for its method, a request is looked up
  // only once.
  app.route({ method: methods, url: "/", handler: handle });
  app.setErrorHandler((error, request, reply) => sendProblem(sender, arrivedOf(request, reply), emptyContext, error));
  handleServerEvents(app, connections);
  app.server.on("connection", (socket: Socket) => connections.opened(socket));
  app.addHook("preClose", async () => connections.endSilent());
  return app;
}

/** Requests that Node's server would answer itself: not as problem details, or too early. */
function handleServerEvents({ server }: FastifyInstance, connections: Connections): void {
  const asUsual = (request: IncomingMessage, response: ServerResponse) =>
    void server.emit("request", request, response);
  // 100 Continue is sent when the body is read, so that no client sends one that is refused.
  server.on("checkContinue", asUsual);
  server.on("checkExpectation", asUsual);
  server.on("connect", (_request: IncomingMessage, socket: Socket) => {
    connections.refuse(new Problem("invalid_request", "This server is not a proxy; CONNECT is not supported"), socket);
  });
}

function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === "1.1" && headers.expect.toLowerCase() === "100-continue";
}

/** A request with what its response needs. */
interface ArrivedRequest extends IncomingRequest {
  readonly reply: FastifyReply;
  /** Time of performance.now(). */
  readonly startedAt: number;
  sendContinue: (() => void) | undefined;
}

function arrivedOf(
  request: FastifyRequest,
  reply: FastifyReply,
  startedAt = performance.now(),
  bodyRefused?: Promise<Error>,
): ArrivedRequest {
  const { id: requestId, originalUrl: rawUrl } = request;
  return { request, reply, requestId, rawUrl, startedAt, bodyRefused, sendContinue: undefined };
}

interface Sender {
  readonly options: HttpServerOptions;
  readonly unread: UnreadResponses;
  readonly connections: Connections;
}

/** Of a text that may have as many bytes as a large response. */
const largeCharacters = largeBytes / maxBytesPerCharacter;
/** Of what belongs to no project. */
const connectionOwner = Object.freeze({});

function send(sender: Sender, arrived: ArrivedRequest, context: RequestContext, response: HttpResponse): FastifyReply {
  const { text: json = "" } = response;
  if (json.length >= largeCharacters && arrived.request.method === "GET") {
    sender.unread.requireRoom(context.project ?? connectionOwner, json);
  }
  const headers = commonHeaders(arrived, context);
  headers["Cache-Control"] = response.secret ? "no-store" : "private, no-cache";
  if (response.headers) Object.assign(headers, response.headers);
  if (response.text !== undefined) headers["Content-Type"] ??= "application/json";
  if (response.file !== undefined) headers["Content-Type"] = response.file.type;
  if (response.stream !== undefined) return beginStream(sender, arrived, { context, response, headers });
  const text = response.text ?? response.file?.bytes;
  return write(sender, arrived, { context, status: response.status, headers, text });
}

/** It is observed when it begins: how long a client follows says nothing of the service. */
function beginStream(
  { options, connections, unread }: Sender,
  arrived: ArrivedRequest,
  begun: { readonly context: RequestContext; readonly response: HttpResponse; readonly headers: Outgoing["headers"] },
): FastifyReply {
  const { reply } = arrived;
  const { context, headers } = begun;
  const { status, stream } = begun.response;
  reply.hijack();
  const response: ObservedResponse = reply.raw;
  response[ending] = { options, arrived, outgoing: { context, status, headers, text: undefined } };
  connections.isLast(arrived.request.raw);
  // The body ends with the connection (RFC 9112 §6.3): a chunk would take three writes.
  response.shouldKeepAlive = false;
  response.useChunkedEncodingByDefault = false;
  headers["X-Content-Type-Options"] = "nosniff";
  if (!response.destroyed) response.writeHead(status, headers);
  observeEnd.call(response);
  stream?.(response);
  const unreadBytes = response.socket?.writableLength ?? 0;
  if (response.writableNeedDrain) unread.wait(context.project ?? connectionOwner, response, unreadBytes);
  return reply;
}

function sendProblem(sender: Sender, arrived: ArrivedRequest, context: RequestContext, error: unknown): FastifyReply {
  const path = arrived.rawUrl.split("?", 1)[0] ?? "";
  const { status, code, text, defect, headers: own } = problemResponse(error, { path, requestId: arrived.requestId });
  if (defect) logDefect(sender.options.logger, arrived, error);
  const headers = Object.assign(commonHeaders(arrived, context), own);
  headers["Cache-Control"] = "no-store";
  headers["Content-Type"] = "application/problem+json";
  const problem = error instanceof Problem ? error : undefined;
  return write(sender, arrived, { context, status, code, problem, headers, text });
}

function commonHeaders(
  { requestId, request }: ArrivedRequest,
  { project, rates }: RequestContext,
): Outgoing["headers"] {
  const headers: Outgoing["headers"] = {
    "X-Request-Id": requestId,
    Vary: "Authorization, Origin",
  };
  const { origin } = request.headers;
  if (project && origin !== undefined) Object.assign(headers, corsHeaders(project.config.cors, origin));
  if (rates) Object.assign(headers, rateHeaders(rates));
  return headers;
}

interface Outgoing extends Omit<Ending, "seconds" | "code"> {
  readonly code?: string;
  readonly headers: Record<string, string | number>;
  readonly text: string | Uint8Array | undefined;
}

/** Writes all headers at once: fastify's way costs a tenth of a small response. */
function write({ options, unread }: Sender, arrived: ArrivedRequest, outgoing: Outgoing): FastifyReply {
  const { reply } = arrived;
  const { context, status, headers, text } = outgoing;
  reply.hijack();
  const response: ObservedResponse = reply.raw;
  // Where the head of a response can't be written, a problem follows, which ends the same request.
  const isFirst = response[ending] === undefined;
  response[ending] = { options, arrived, outgoing };
  if (response.destroyed) {
    // The client left before its response was ready: the event "close" was emitted before.
    observeEnd.call(response);
    return reply;
  }
  if (isFirst) response.on("close", observeEnd);
  if (options.lifecycle.stopping) response.shouldKeepAlive = false;
  if (text !== undefined) {
    headers["Content-Length"] = Buffer.byteLength(text);
    // No browser is to take stored JSON for a page or a script.
    headers["X-Content-Type-Options"] = "nosniff";
  }
  response.writeHead(status, headers);
  // Node leaves the body out of a response to HEAD by itself.
  // A client that waits for 100 Continue sends no body.
  const arrives = !arrived.request.raw.complete && arrived.sendContinue === undefined;
  if (response.shouldKeepAlive || !arrives || text === undefined) response.end(text);
  else endAfterBody(arrived, response, text);
  const unreadBytes = response.socket?.writableLength ?? 0;
  if (unreadBytes > 0) unread.wait(context.project ?? connectionOwner, response, unreadBytes);
  return reply;
}

const ending = Symbol("ending");

/** What is observed at its end: one listener for all costs less than a closure for each. */
interface ObservedResponse extends ServerResponse {
  [ending]?: {
    readonly options: HttpServerOptions;
    readonly arrived: ArrivedRequest;
    readonly outgoing: Outgoing;
  };
}

function observeEnd(this: ObservedResponse): void {
  const ended = this[ending];
  if (ended === undefined) return;
  const { options, arrived, outgoing } = ended;
  const { status, code, context, problem } = outgoing;
  const seconds = (performance.now() - arrived.startedAt) / 1000;
  options.observe(arrived, { status, code, seconds, context, problem });
}

/**
 * Ends a response that closes its connection while the request still arrives. Closed over unread
 * bytes, the connection is reset and the client loses the response: so the rest is read first.
 */
function endAfterBody(
  { request, bodyRefused }: ArrivedRequest,
  response: ServerResponse,
  text: string | Uint8Array,
): void {
  response.write(text);
  const end = (): void => void response.end();
  request.raw.once("end", end).once("close", end).resume();
  void bodyRefused?.then(end);
}

function logDefect(logger: Logger, { requestId }: ArrivedRequest, error: unknown): void {
  const { name, stack } = error instanceof Error ? error : { name: typeof error, stack: undefined };
  // Frames only: a message could quote what a caller sent.
  const frames = stack?.slice(stack.indexOf("\n    at ") + 1);
  logger.error("Request failed", { requestId, error: name, stack: frames });
}
