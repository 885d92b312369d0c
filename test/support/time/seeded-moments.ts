// Fractions of 1 that look random and are the same in every run, for moments at which tests kill
// something.

export function seededMoments(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
