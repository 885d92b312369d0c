// What the project has, for the client: its cards.

export interface Card {
  readonly id: string;
  readonly _metadata: { readonly created: number; readonly creator: string; readonly creator_type: string };
  readonly column: "good" | "bad" | "next";
  readonly text: string;
  readonly votes?: number;
}

type Fields = Pick<Card, "column" | "text" | "votes">;

export interface Api {
  readonly resources: {
    readonly cards: {
      readonly object: Card;
      readonly create: Fields;
      readonly patch: Partial<Fields>;
      readonly filters: { readonly column: Card["column"]; readonly "_metadata.creator": string };
      readonly sort: "votes" | "-votes" | "text" | "-text";
    };
  };
  readonly rootKeys: object;
  readonly problems: "invalid_credentials" | "login_throttled" | "validation_failed" | "not_found";
}
