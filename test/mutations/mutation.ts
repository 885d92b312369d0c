// What a mutation is: one small fault put into the code on purpose, with the tests that are there to notice it. One that no test
// notices shows a promise that nothing holds.

export interface Mutation {
  /** In words with hyphens; `--only` takes it. */
  readonly name: string;
  /** What a user, or a neighbour, would suffer. */
  readonly harm: string;
  /** From the root. */
  readonly file: string;
  /** Text that stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Test files, from the root. */
  readonly caughtBy: readonly [string, ...string[]];
}
