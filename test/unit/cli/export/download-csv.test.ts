// A collection as CSV, from a server that answers as the test says.

import { describe, expect, it } from "vitest";
import { downloadCsv } from "../../../../cli/export/export-csv.ts";

const collection = new URL("https://api.example.org/default/shop/api/books?price:ge=3");
const link = '<https://other.example.net/api/books?_cursor=c1>; rel="next"';
const type = { "Content-Type": "text/csv; charset=utf-8; header=present" };

async function downloaded(answers: readonly Response[]) {
  const [left, asked, written] = [[...answers], [] as string[], [] as string[]];
  const read = async (to: URL): Promise<Response> => {
    asked.push(to.href);
    return left.shift() ?? new Response("");
  };
  const write = async (bytes: Buffer): Promise<void> => void written.push(bytes.toString());
  await downloadCsv({ service: { read }, write }, collection);
  return { asked, text: written.join("") };
}

describe("a collection as CSV", () => {
  it("has one header and the records of all pages, and takes nothing but the cursor of a link", async () => {
    const { asked, text } = await downloaded([
      new Response('id,"é\r\nb"\r\n1,x\r\n', { headers: { ...type, Link: link } }),
      new Response('id,"é\r\nb"\r\n2,y\r\n', { headers: type }),
    ]);
    expect(text).toBe('id,"é\r\nb"\r\n1,x\r\n2,y\r\n');
    const tail = "&_limit=100&_count=false";
    expect(asked).toEqual([`${collection.href}&_cursor=${tail}`, `${collection.href}&_cursor=c1${tail}`]);
  });

  it("ends where the columns change between two pages, and where the server sends no CSV", async () => {
    const pages = [
      new Response("id,a\r\n1,x\r\n", { headers: { ...type, Link: link } }),
      new Response("id,b\r\n2,y\r\n", { headers: type }),
    ];
    await expect(downloaded(pages)).rejects.toThrow("The schema has changed meanwhile");
    await expect(downloaded([Response.json({})])).rejects.toThrow("answers with application/json, not with CSV");
  });
});
