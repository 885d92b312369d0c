// The type parameter of a client: what a project has. `jsonplane types` writes one from manifests.

export interface ResourceShape {
  /** As it is read. */
  readonly object: { readonly id: string };
  /** The body of a create. */
  readonly create: unknown;
  /** What a PUT sends: the fields that change, each whole. */
  readonly update: unknown;
  /** What a merge patch sends: what changes, null to remove a field. */
  readonly patch: unknown;
  /** By field, or by field and operator, such as `price:ge`. */
  readonly filters: unknown;
  /** Fields to sort by, a minus before those in descending order. */
  readonly sort: string;
}

export interface ApiShape {
  readonly resources: object;
  readonly rootKeys: object;
  /** Codes of problems. */
  readonly problems: string;
}

/** Has the compiler say which part of a resource is missing, or wrong. */
export type CheckedApi<A extends ApiShape> = ApiShape & {
  readonly resources: { readonly [Name in keyof A["resources"]]: ResourceShape };
};

/** Without a type parameter: every name, and values of which nothing is known. */
export interface UntypedApi {
  readonly resources: Readonly<Record<string, UntypedResource>>;
  readonly rootKeys: Readonly<Record<string, unknown>>;
  readonly problems: string;
}

interface UntypedResource {
  readonly object: { readonly id: string; readonly [field: string]: unknown };
  readonly create: Readonly<Record<string, unknown>>;
  readonly update: Readonly<Record<string, unknown>>;
  readonly patch: Readonly<Record<string, unknown>>;
  readonly filters: Readonly<Record<string, unknown>>;
  readonly sort: string;
}

export type ResourceName<A extends ApiShape> = keyof A["resources"] & string;
export type RootKeyName<A extends ApiShape> = keyof A["rootKeys"] & string;
export type ResourceOf<A extends ApiShape, Name extends ResourceName<A>> = A["resources"][Name] extends ResourceShape
  ? A["resources"][Name]
  : never;

/** The type of a value at a path such as `openingHours/0/from`. */
export type AtPath<Value, Path extends string> = Path extends ""
  ? Value
  : Path extends `${infer First}/${infer Rest}`
    ? AtPath<Member<Value, First>, Rest>
    : Member<Value, Path>;

type Member<Value, Key extends string> = Value extends readonly (infer Element)[]
  ? Element
  : Key extends keyof Value
    ? NonNullable<Value[Key]>
    : unknown;

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface RetryOptions extends RequestOptions {
  /** How long it is sent again while no answer comes, in place of `maxRetries`; may be Infinity. */
  readonly retryForMs?: number | undefined;
}

export interface WriteOptions extends RetryOptions {
  /** An entity tag: 412 `precondition_failed` if what is stored has another one by now. */
  readonly ifMatch?: string | undefined;
}

export interface CreateOptions extends RetryOptions {
  /** By default one for each call. With the same key and body, calls create once, for 24 hours. */
  readonly idempotencyKey?: string | undefined;
}

export interface IncrementOptions extends WriteOptions {
  /** 409 `increment_out_of_bounds` if the sum would be less. */
  readonly min?: number | undefined;
  /** The same if it would be more. */
  readonly max?: number | undefined;
}

export type Filters<R extends ResourceShape> = {
  readonly [Name in keyof R["filters"]]?: R["filters"][Name] | Several<Name> | undefined;
};

/** Values that may have commas. */
type Several<Name> = Name extends `${string}:in` ? readonly (string | number | boolean | null)[] : never;

/** It ends when the signal is aborted. */
export interface WatchOptions extends RequestOptions {
  /** Told whenever the connection is there, and whenever it is lost. */
  readonly onState?: ((state: "live" | "reconnecting") => void) | undefined;
}

/** Which objects are followed. */
export interface WatchQuery<R extends ResourceShape> extends WatchOptions {
  readonly filter?: Filters<R> | undefined;
  /** Objects of one page while it reads what is stored; 100 by default. */
  readonly pageSize?: number | undefined;
}

export interface LiveQuery<R extends ResourceShape> extends WatchQuery<R> {
  readonly sort?: R["sort"] | readonly R["sort"][] | undefined;
}

/** What happens to a collection that is followed. */
export type ResourceChange<Item> =
  /** What is stored: at first, and again where changes may have been missed. */
  | { readonly kind: "list"; readonly objects: readonly Item[] }
  /** It was created or changed. */
  | { readonly kind: "put"; readonly id: string; readonly object: Item }
  /** It is gone, or doesn't match the filter any more. */
  | { readonly kind: "delete"; readonly id: string };

export interface ListQuery<R extends ResourceShape> extends RequestOptions {
  readonly filter?: Filters<R> | undefined;
  readonly sort?: R["sort"] | readonly R["sort"][] | undefined;
  /** Only these fields, and `id`; a dot leads into nested objects. */
  readonly fields?: readonly string[] | undefined;
  /** Objects of one page: 10 by default, 100 for `list`. */
  readonly limit?: number | undefined;
  /** Reads the tag of each object, for `etagOf`. */
  readonly etags?: boolean | undefined;
}

export interface PageQuery<R extends ResourceShape> extends ListQuery<R> {
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
  /** In place of a cursor; writes shift such pages. */
  readonly offset?: number | undefined;
  /** False = don't count all objects that match, which may be dear. */
  readonly count?: boolean | undefined;
}

/** With `fields`, any other may be missing. */
export type Shown<R extends ResourceShape, Query> = Query extends { readonly fields: readonly string[] }
  ? Pick<R["object"], "id"> & Partial<R["object"]>
  : R["object"];

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Of all pages together; undefined with `count: false`. */
  readonly count: number | undefined;
  /** For `cursor`; undefined on the last page, and with `offset`. */
  readonly next: string | undefined;
}

/** Of `countBy`. */
export interface ValueCount {
  readonly value?: string | number | boolean | null;
  readonly count: number;
}

/** As whom the server knows the caller. */
export interface WhoAmI {
  readonly kind: "user" | "apikey" | "external" | "anonymous";
  readonly name: string;
  readonly issuer?: string;
  readonly role?: "Users" | "Administrators";
  readonly access?: "Read" | "Write";
  /** In Unix seconds. */
  readonly expires?: number;
  readonly session_id?: string;
}
