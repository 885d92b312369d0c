// Finds what YAML allows and kubectl can't read or silently leaves out: kubectl splits a file at
// its lines of `---` before it reads YAML, and reads YAML 1.1. Each fault once.

import type { Fault } from "./convert-document.ts";
import { isMark, type Token, type TokenType, yamlTokens } from "./yaml-tokens.ts";

type Found = Omit<Fault, "pointer">;

const control = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ufffd]/u;
const supplementary = /[\u{10000}-\u{10ffff}]/gu;
const loneReturn = /\r(?!\n)/;

export function kubectlFaults(text: string): readonly Fault[] {
  const faults = [
    ...faultAt(
      text.search(loneReturn),
      "A line ends in CR alone: kubectl may leave out what follows, write LF or CR LF",
    ),
    ...faultAt(
      text.replaceAll(supplementary, "--").search(control),
      "A control character: kubectl can't read it, write it as an escape in a text in double quotes",
    ),
    ...tokenFaults(text.replaceAll(/\r(?!\n)/g, "\n")),
  ];
  const first = new Map(faults.toReversed().map((fault) => [fault.message, fault]));
  return Array.from(first.values(), (fault) => ({ ...fault, pointer: "" })).toReversed();
}

function faultAt(offset: number, message: string): readonly Found[] {
  return offset < 0 ? [] : [{ offset, message }];
}

/** What stands before a token, as far as it decides what kubectl makes of the token. */
interface Before {
  readonly flowLevel: number;
  /** In block style, at the start of a line or behind the dash of an item. */
  readonly isStart: boolean;
  readonly isBehindDashes: boolean;
  readonly isBehindDots: boolean;
}

function tokenFaults(text: string): readonly Found[] {
  const faults: Found[] = [];
  let before: Before = { flowLevel: 0, isStart: true, isBehindDashes: false, isBehindDots: false };
  for (const token of yamlTokens(text)) {
    const message = tokenFault(token, before);
    if (message !== undefined) faults.push({ offset: token.offset, message });
    before = after(token.type, before);
  }
  return faults;
}

const blank: readonly TokenType[] = ["space", "comment", "newline", "doc-mode", "byte-order-mark"];

function tokenFault({ source, type }: Token, before: Before): string | undefined {
  if (type === "directive-line") return "kubectl reads no directives: remove this line";
  if (type === "space" && before.isStart && before.flowLevel === 0 && source.includes("\t"))
    return "A tab at the start of a line or of an item: kubectl can't read it, write spaces";
  if (type === "plain" && before.flowLevel > 0 && source.includes("?"))
    return "Within braces and brackets kubectl reads no text with a question mark: write it in quotes";
  if (blank.includes(type)) return undefined;
  if (before.isBehindDashes) return "kubectl reads nothing behind ---: write it on a line of its own";
  return before.isBehindDots && type !== "doc-start" && type !== "doc-end"
    ? "kubectl reads nothing behind ... but a line of ---: write one"
    : undefined;
}

function after(type: TokenType, before: Before): Before {
  const { flowLevel, isStart, isBehindDashes, isBehindDots } = before;
  return {
    flowLevel: flowLevel + flowChange(type),
    isStart: type === "newline" || type === "seq-item-ind" || (isStart && (type === "space" || isMark(type))),
    isBehindDashes: type === "doc-start" || (isBehindDashes && type !== "newline"),
    isBehindDots: type === "doc-end" || (isBehindDots && type !== "doc-start"),
  };
}

function flowChange(type: TokenType): number {
  if (type === "flow-map-start" || type === "flow-seq-start") return 1;
  return type === "flow-map-end" || type === "flow-seq-end" || type === "flow-error-end" ? -1 : 0;
}
