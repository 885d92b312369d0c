// Which editors have unsaved text. The console asks before it shows anything else, and the browser
// before it leaves the page.

export class UnsavedChanges {
  readonly #editors = new Set<object>();
  /** Called once all that was entered is saved or taken back. */
  onEmpty: (() => void) | undefined;

  get isEmpty(): boolean {
    return this.#editors.size === 0;
  }

  /** Returns how to take the editor out again. */
  add(): () => void {
    const editor = {};
    this.#editors.add(editor);
    return () => {
      if (this.#editors.delete(editor) && this.isEmpty) this.onEmpty?.();
    };
  }

  /** What was entered is saved by now, or is discarded. */
  clear(): void {
    this.#editors.clear();
  }
}
