// The tokens of a YAML text, each with its offset.

import { CST, Lexer } from "yaml";

export type TokenType = ReturnType<typeof CST.tokenType> | "plain";

export interface Token {
  readonly type: TokenType;
  readonly source: string;
  readonly offset: number;
}

export function* yamlTokens(text: string): Generator<Token> {
  let offset = 0;
  let isPlain = false;
  for (const source of new Lexer().lex(text)) {
    const type: TokenType = isPlain ? "plain" : CST.tokenType(source);
    yield { type, source, offset };
    isPlain = type === "scalar";
    if (!isMark(type)) offset += source.length;
  }
}

/** The lexer's own markers stand for no text. */
export function isMark(type: TokenType): boolean {
  return type === "scalar" || type === "doc-mode" || type === "flow-error-end";
}
