// What is measured: for each operation the request to jsonplane, and the request that makes bare
// fastify send the same Redis command.

import type { LoadRequest } from "./load.ts";
import { bookText } from "./subjects.ts";

export interface Addresses {
  /** Of the bench project. */
  readonly plane: string;
  readonly admin: string;
  readonly owner: string;
  readonly token: string;
  /** A token of an external issuer, of a version that takes them. */
  readonly external?: string;
  readonly bookIds: readonly string[];
  readonly bare: string;
}

export type OperationName =
  | "get, API key"
  | "get, JWT"
  | "get, external token"
  | "list of 10"
  | "list of 10, sorted"
  | "list of 10, one's own"
  | "create, three indexes"
  | "PUT"
  | "key/value get"
  | "key/value insert";

export interface Operation {
  readonly name: OperationName;
  /** Requests a second of jsonplane divided by those of the bare server: at least this. */
  readonly budget: number;
  readonly plane: LoadRequest;
  readonly bare: LoadRequest;
}

export function operations(at: Addresses): readonly Operation[] {
  const key = { authorization: `apikey ${at.admin}` };
  const json = { "content-type": "application/json" };
  const book = bookText(1);
  const bookUrl = `${at.plane}/api/books/${at.bookIds[0]}`;
  const paths = at.bookIds.map((id) => `${new URL(at.plane).pathname}/api/books/${id}`);
  // As many as jsonplane's, so that the load generator has the same work.
  const barePaths = (operation: "get" | "put") => at.bookIds.map((_id, index) => `/${operation}/${index}`);
  const getBy = (name: OperationName, token: string): Operation => ({
    name,
    budget: 0.9,
    plane: { url: bookUrl, headers: { authorization: `bearer ${token}` }, paths },
    bare: { url: at.bare, paths: barePaths("get") },
  });
  return [
    {
      name: "get, API key",
      budget: 0.9,
      plane: { url: bookUrl, headers: key, paths },
      bare: { url: at.bare, paths: barePaths("get") },
    },
    getBy("get, JWT", at.token),
    ...(at.external === undefined ? [] : [getBy("get, external token", at.external)]),
    {
      name: "list of 10",
      budget: 0.75,
      plane: { url: `${at.plane}/api/books`, headers: key },
      bare: { url: `${at.bare}/list` },
    },
    {
      name: "list of 10, sorted",
      budget: 0.75,
      plane: { url: `${at.plane}/api/books?_sort=-price`, headers: key },
      bare: { url: `${at.bare}/list` },
    },
    {
      name: "list of 10, one's own",
      budget: 0.75,
      plane: { url: `${at.plane}/api/notes`, headers: { authorization: `apikey ${at.owner}` } },
      bare: { url: `${at.bare}/list` },
    },
    {
      name: "create, three indexes",
      budget: 0.6,
      plane: { url: `${at.plane}/api/books`, method: "POST", headers: { ...key, ...json }, body: book },
      bare: { url: `${at.bare}/create`, method: "POST", headers: json, body: book },
    },
    {
      name: "PUT",
      budget: 0.4,
      plane: { url: bookUrl, method: "PUT", headers: { ...key, ...json }, body: '{"stock":@}', paths },
      bare: {
        url: at.bare,
        method: "PUT",
        headers: json,
        body: book.replace(/"stock":\d+/, '"stock":@'),
        paths: barePaths("put"),
      },
    },
    {
      name: "key/value get",
      budget: 0.8,
      plane: { url: `${at.plane}/json/kv/theme/colour` },
      bare: { url: `${at.bare}/kv` },
    },
    {
      name: "key/value insert",
      budget: 0.65,
      plane: {
        url: `${at.plane}/json/kv/list/-`,
        method: "POST",
        headers: { ...key, ...json },
        body: "1",
        first: { url: `${at.plane}/json/kv/list`, method: "PUT", headers: { ...key, ...json }, body: "[]" },
      },
      bare: { url: `${at.bare}/insert`, method: "POST", headers: json, body: "1" },
    },
  ];
}
