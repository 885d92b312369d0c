/** What is wrong with a seed, and where: a sentence for the terminal. */
export class SeedFault extends Error {
  override readonly name = "SeedFault";
}
