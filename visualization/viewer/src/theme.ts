// Light or dark: as the system says until a person chooses.

export type ThemeName = "light" | "dark";

const KEY = "tarragon-theme";

/** Storage may be refused, for pages from disk for example. */
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

  /** Reads what holds now, and tells. */
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
      // Then the choice lasts as long as the page.
    }
    this.apply(name);
  }

  private apply(name: ThemeName): void {
    this.name = name;
    document.documentElement.dataset["theme"] = name;
    this.changed(name);
  }
}
