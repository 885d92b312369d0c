import { describe, expect, it } from "vitest";
import type { FileLine } from "../../../../cli/import/export-file.ts";
import { type RefusedLine, Upload } from "../../../../cli/import/upload.ts";
import { ServerAway, ServiceRefused } from "../../../../cli/service/service.ts";

const url = new URL("http://shop.example.org/import");
const none = { created: 0, replaced: 0, deleted: 0, unchanged: 0, expired: 0, refused: 0, errors: [] };

async function* linesOf(count: number, bytes = 10): AsyncGenerator<FileLine> {
  for (let at = 0; at < count; at += 1) yield { line: at + 2, bytes: Buffer.alloc(bytes, "x") };
}

interface World {
  readonly upload: Upload;
  readonly bodies: number[];
  readonly refused: RefusedLine[];
  readonly pauses: number[];
}

/** `answer` gets the bytes of the body and how many requests came before. */
function world(answer: (bytes: number, before: number) => object): World {
  const [bodies, refused, pauses]: [number[], RefusedLine[], number[]] = [[], [], []];
  const upload = new Upload(
    {
      service: {
        async post(_to, _type, body) {
          bodies.push(body.length);
          return JSON.stringify({ ...none, ...answer(body.length, bodies.length - 1) });
        },
      },
      pause: async (milliseconds) => void pauses.push(milliseconds),
      note: () => undefined,
      onRefused: (line) => void refused.push(line),
    },
    url,
  );
  return { upload, bodies, refused, pauses };
}

describe("the upload of a file", () => {
  it("sends at most 1,000 lines or half a mebibyte at a time, and a longer line alone", async () => {
    const short = world(() => ({ created: 1 }));
    expect(await short.upload.send(linesOf(2_500))).toBe(true);
    expect(short.bodies).toEqual([10_000, 10_000, 5_000]);
    const long = world(() => ({}));
    await long.upload.send(linesOf(3, 300 * 1024));
    expect(long.bodies).toEqual([307_200, 307_200, 307_200]);
  });

  it("tells the numbers of refused lines as they are in the file, and adds up", async () => {
    const { upload, refused } = world((_bytes, before) => ({
      created: 999,
      refused: 1,
      errors: [{ line: 3, code: "not_unique", detail: `${before}` }],
    }));
    await upload.send(linesOf(2_000));
    expect(refused.map(({ line }) => line)).toEqual([4, 1_004]);
    expect(upload.counts).toMatchObject({ created: 1_998, refused: 2 });
    expect(upload.lastLine).toBe(2_001);
  });

  it("gives up once a thousand lines were refused", async () => {
    const { upload, bodies } = world(() => ({ refused: 600 }));
    expect(await upload.send(linesOf(5_000))).toBe(false);
    expect(bodies).toHaveLength(2);
  });

  it("sends a part again while the server is away, waits as it is asked to, and gives up at last", async () => {
    const { upload, bodies, pauses } = world((_bytes, before) => {
      if (before === 1) throw new ServerAway("busy", { retryAfterMs: 60_000 });
      return { created: 1 };
    });
    expect(await upload.send(linesOf(1_500))).toBe(true);
    expect([bodies, pauses]).toEqual([[10_000, 5_000, 5_000], [60_000]]);
    const away = world(() => {
      throw new ServerAway("gone");
    });
    await expect(away.upload.send(linesOf(1))).rejects.toThrow("gone");
    expect(away.bodies).toHaveLength(8);
  });

  it("says so where the answer is none of an import", async () => {
    for (const text of ["<html>", "null", "{}"]) {
      const nothing = (): undefined => undefined;
      const deps = {
        service: { post: async () => text },
        pause: async () => undefined,
        note: nothing,
        onRefused: nothing,
      };
      await expect(new Upload(deps, url).send(linesOf(1))).rejects.toThrow(ServiceRefused);
    }
  });

  it("sends nothing again that is refused as a whole", async () => {
    const { upload, bodies } = world(() => {
      throw new ServiceRefused("403");
    });
    await expect(upload.send(linesOf(1))).rejects.toThrow("403");
    expect(bodies).toHaveLength(1);
  });
});
