// What all tools have in common: an answer is sent as structured content and as text, within a
// bound that a model's context can take, and whatever is refused is a result that the model reads.

import type { CallToolResult, McpServer, StandardSchemaWithJSON, ToolAnnotations } from "@modelcontextprotocol/server";
import type * as z from "zod";
import { Problem } from "../../client/index.ts";

/** Some 10,000 tokens: hosts warn of more, or cut it. */
export const maxCharacters = 40_000;

/** Hosts give up after a minute. */
const timeLimitMs = 50_000;

export interface Tool<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: Output;
  readonly annotations: ToolAnnotations;
  /** What to do where the answer is too long: a sentence without a full stop. */
  readonly instead?: (answer: z.input<Output>) => string;
  /** Whatever it throws, the model reads. */
  readonly run: (given: z.output<Input>, signal: AbortSignal) => Promise<z.input<Output>>;
}

/** The project is all there is, and reading changes nothing. */
export const reads: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };

export function addTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  server: McpServer,
  { name, title, description, input, output, annotations, run, instead = () => "Ask for less" }: Tool<Input, Output>,
): void {
  const inputSchema: StandardSchemaWithJSON = input;
  const config = { title, description, inputSchema, outputSchema: output as StandardSchemaWithJSON, annotations };
  server.registerTool(name, config, async (given, { mcpReq }): Promise<CallToolResult> => {
    const signal = AbortSignal.any([mcpReq.signal, AbortSignal.timeout(timeLimitMs)]);
    const answer = await run(given as z.output<Input>, signal).catch((error: unknown) => {
      throw error instanceof Problem ? new Error(sentencesOf(error), { cause: error }) : error;
    });
    const text = JSON.stringify(answer);
    if (text.length > maxCharacters) {
      const bound = `The answer has ${text.length} characters, and a tool answers with at most ${maxCharacters}`;
      throw new Error(`${bound}. ${instead(answer)}.`);
    }
    // Clients without structured content read the text.
    return { content: [{ type: "text", text }], structuredContent: answer };
  });
}

const maxErrors = 20;

function sentencesOf({ status, code, detail, errors, retryAfterMs }: Problem): string {
  const places = errors.slice(0, maxErrors).map(({ pointer, message }) => `- ${pointer || "the whole"}: ${message}`);
  const isUncertain = code === "no_response" || code === "outcome_unknown";
  return [
    `${status === 0 ? "" : `${status} `}${code}: ${detail}`,
    ...places,
    ...(errors.length > maxErrors ? [`- and ${errors.length - maxErrors} more`] : []),
    ...(isUncertain ? ["If it was a write, it may have taken place: read before you write again."] : []),
    ...(retryAfterMs === undefined ? [] : [`It may succeed in ${Math.ceil(retryAfterMs / 1_000)} seconds.`]),
  ].join("\n");
}
