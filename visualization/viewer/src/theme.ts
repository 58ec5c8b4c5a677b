// Light or dark theme: that of the system until the user chooses.

export type ThemeName = "light" | "dark";

const KEY = "tarragon-theme";

/** Reads the stored choice; storage may be refused, for example for pages from disk. */
function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export class Theme {
  name: ThemeName = "light";
  private readonly system = window.matchMedia("(prefers-color-scheme: dark)");

  constructor(private readonly changed: (name: ThemeName) => void) {
    this.system.addEventListener("change", () => this.update());
  }

  /** Reads the current theme and applies it. */
  update(): void {
    const chosen = stored();
    const name = chosen === "light" || chosen === "dark" ? chosen : this.system.matches ? "dark" : "light";
    this.apply(name);
  }

  toggle(): void {
    const name = this.name === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, name);
    } catch {
      // The choice then lasts as long as the page.
    }
    this.apply(name);
  }

  private apply(name: ThemeName): void {
    this.name = name;
    document.documentElement.dataset["theme"] = name;
    this.changed(name);
  }
}
