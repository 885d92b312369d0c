// The records of all pages of a list, from a server that answers as the test says.

import { describe, expect, it } from "vitest";
import { allRecords } from "../../../../../pages/console/objects/all-records.ts";

interface CsvPage {
  readonly text: string;
  readonly link?: string;
}

async function read(pages: readonly CsvPage[]) {
  const [left, asked] = [[...pages], [] as string[]];
  const send = async (url: string): Promise<Response> => {
    asked.push(url);
    const { text, link } = left.shift() ?? { text: "" };
    return new Response(text, { headers: link === undefined ? {} : { Link: link } });
  };
  return { records: await allRecords("api/books?_limit=2", { send }, new AbortController().signal), asked };
}

const link = '<http://proxy/x/api/books?_limit=2&_cursor=c1>; rel="next"';

describe("all records of a list", () => {
  it("have one header, and the pages of every cursor below the project's own URL", async () => {
    const { records, asked } = await read([
      { text: 'id,"a\r\nb"\r\n1,x\r\n', link },
      { text: 'id,"a\r\nb"\r\n2,y\r\n' },
    ]);
    expect(records).toEqual({ parts: ['id,"a\r\nb"\r\n1,x\r\n', "2,y\r\n"] });
    expect(asked).toEqual(["api/books?_limit=2&_cursor=", "api/books?_limit=2&_cursor=c1"]);
  });

  it("are not mixed from two schemas", async () => {
    const { records } = await read([{ text: "id,a\r\n1,x\r\n", link }, { text: "id,b,a\r\n2,y,z\r\n" }]);
    expect(records).toMatchObject({ problem: { title: "The schema has changed. Download again" } });
  });
});
