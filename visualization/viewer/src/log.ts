// What went wrong, each thing once: messages come sixty times a second.

const MOST = 500;

export class Log {
  /** The texts so far, without repetition. */
  readonly errors: string[] = [];
  private readonly seen = new Set<string>();

  report(text: string): void {
    if (this.seen.has(text) || this.seen.size > MOST) return;
    this.seen.add(text);
    if (this.seen.size > MOST) text = "More problems than the page remembers: further ones are not reported.";
    this.errors.push(text);
    console.warn(`tarragon: ${text}`);
  }

  /** Reports `error`, which happened while doing `what`. */
  failure(what: string, error: unknown): void {
    this.report(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
