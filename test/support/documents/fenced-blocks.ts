// Takes a page of the documentation apart into its fenced blocks, each with what stands after the
// fence: ```sh cluster.

export interface FencedBlock {
  /** The first word after the fence, such as sh, yaml or json; empty when there is none. */
  readonly language: string;
  /** The words after it, such as cluster. */
  readonly words: readonly string[];
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
}

export function fencedBlocks(markdown: string): readonly FencedBlock[] {
  return [...markdown.matchAll(/^( *)```(.*)\n([\s\S]*?)^ *```$/gm)].map(
    ({ 1: indent = "", 2: info = "", 3: text = "", index }) => {
      const [language = "", ...words] = info.trim().split(/\s+/);
      const line = markdown.slice(0, index).split("\n").length;
      return { language, words, line, text: text.replaceAll(new RegExp(`^${indent}`, "gm"), "") };
    },
  );
}

/** Where a block wants to be saved, said by its first line: `# shelf/books.yaml`. */
export function fileNamed({ language, text }: FencedBlock): string | undefined {
  return language === "yaml" ? /^# ([\w./-]+\.ya?ml)$/m.exec(text.split("\n", 1)[0] ?? "")?.[1] : undefined;
}
