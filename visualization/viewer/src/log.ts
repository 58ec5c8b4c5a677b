// Log of problems. Each is reported once, because messages arrive sixty times a second.

const MOST = 500;

export class Log {
  /** The reported texts, without repetition. */
  readonly errors: string[] = [];
  private readonly seen = new Set<string>();

  report(text: string): void {
    if (this.seen.has(text) || this.seen.size > MOST) return;
    this.seen.add(text);
    if (this.seen.size > MOST) text = "Too many problems: further ones are not reported.";
    this.errors.push(text);
    console.warn(`tarragon: ${text}`);
  }

  /** Reports `error`, which happened while doing `what`. */
  failure(what: string, error: unknown): void {
    this.report(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
