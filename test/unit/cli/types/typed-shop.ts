// What a client's code may do with the types of test/golden/types/shop.yaml. Only the compiler
// reads it.

import type { Client } from "../../../../client/index.ts";
import type {
  Api,
  Book,
  BookCreate,
  BookPatch,
  BookUpdate,
  Categories,
  CategoriesPatch,
  PaymentEventsCreate,
} from "../../../golden/types/generated/shop.ts";

type Books = Api["resources"]["books"];

declare const book: Book;
declare const category: Categories;

/** What a read has: members with defaults are there, others may be missing or null. */
export const read: [string, "new" | "used", boolean, number | null | undefined, number] = [
  book.id,
  book.state,
  book.author.alive,
  book.price,
  book._metadata.created,
];
export const deep: string | undefined = category.children?.[0]?.children?.[0]?.label;
export const shelf: string | undefined = book.labels?.["any"];

/** A POST may leave out what is filled in, at any depth; not what is required. */
export const created: BookCreate[] = [
  { title: "Emma", author: { name: "Jane Austen" }, price: null, size: [1] },
  // @ts-expect-error: no title
  { author: { name: "Jane Austen" } },
  // @ts-expect-error: the service sets it
  { title: "Emma", author: { name: "Jane Austen" }, id: "1" },
  // @ts-expect-error: too long
  { title: "Emma", author: { name: "Jane Austen" }, size: [1, 2, 3] },
];

/** A PUT names what changes. What it names is whole, and null only where the schema allows it. */
export const updated: BookUpdate[] = [
  {},
  { price: null, author: { name: "Jane Austen", alive: false } },
  // @ts-expect-error: nothing is filled in
  { author: { name: "Jane Austen" } },
  // @ts-expect-error: no title is null
  { title: null },
  // @ts-expect-error: no such state
  { state: "lost" },
  // @ts-expect-error: null is no value of it
  { labels: null },
];

/** A PATCH goes to any depth. Null removes what may be missing. */
export const patched: BookPatch[] = [
  { price: null, labels: { old: null, new: "x" }, stock: { total: null }, author: { name: "J. Austen" } },
  { labels: null },
  // @ts-expect-error: a title is required
  { title: null },
  // @ts-expect-error: so is a name, where there is an author
  { author: { name: null } },
];
export const tree: CategoriesPatch = { children: [{ label: "poetry" }] };

/** Members of one choice don't fit the other. */
export const events: PaymentEventsCreate[] = [
  { kind: "card", last4: "1234" },
  { kind: "cash" },
  // @ts-expect-error: cash has no number
  { kind: "cash", last4: "1234" },
  // @ts-expect-error: a card needs its number
  { kind: "card" },
];

/** A patch that leads to the other choice removes what only the former has. */
export const toCash: Api["resources"]["payment-events"]["patch"] = { kind: "cash", last4: null, change: 5 };

export const filters: Books["filters"][] = [
  {
    state: "used",
    price: null,
    "title:ne": "Ulysses",
    "title:in": ["Emma", "Ulysses"],
    "title:starts": "E",
    "author.alive": true,
    "_metadata.created:ge": 1,
  },
  // @ts-expect-error: no such state
  { state: "lost" },
  // @ts-expect-error: no such field
  { colour: "red" },
];

export const orders: Books["sort"][] = [
  "title",
  "-state,-price",
  "-_metadata.created",
  // @ts-expect-error: not indexed
  "notes",
];

/** What nobody may do has no type. */
export const never: [
  Api["resources"]["returns"]["patch"],
  Api["resources"]["categories"]["create"],
  Api["resources"]["returns"]["filters"],
][] = [];

export const problem: Api["problems"] = "not_found";
// @ts-expect-error: no such code
export const noProblem: Api["problems"] = "gone";

export const rootKeys: (keyof Api["rootKeys"])[] = ["opening-hours"];

/** The client takes it as it is. */
export async function withClient(client: Client<Api>): Promise<string> {
  const found = client.resource("books").list({ filter: { state: "used", "title:in": ["Emma"] }, sort: "-title" });
  for await (const { id } of found) await client.resource("books").update(id, { labels: null });
  // @ts-expect-error: nobody creates one
  await client.resource("categories").create({ name: "poetry" });
  return (await client.resource("payment-events").create({ kind: "cash" })).id;
}
