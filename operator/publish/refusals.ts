// Why a publisher refuses to write, beside the store's own errors.

/** Another publisher has begun, or the configuration was emptied or lost writes: begin anew and publish everything. */
export class NotTheWriter extends Error {
  override readonly name: string = "NotTheWriter";
}

/** The writer is of another installation, and is asked whether it is still there. */
export class WriterAsked extends NotTheWriter {
  override readonly name = "WriterAsked";
}

/** The Redis belongs to another installation, or to one whose key ring was lost. */
export class ForeignInstance extends Error {
  override readonly name = "ForeignInstance";
}

/** Another installation has a copy of this one's key ring, and writes to the same Redis; its message says what a person can do. */
export class KeyRingCopied extends Error {
  override readonly name = "KeyRingCopied";
}

/** The data record of one project is broken; its message says what a person can do. */
export class RecordUnreadable extends Error {
  override readonly name = "RecordUnreadable";
}
