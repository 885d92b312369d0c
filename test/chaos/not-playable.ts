/** A scenario that this machine or user can't be given; the report says so. */
export class NotPlayable extends Error {
  override readonly name = "NotPlayable";
}
