// Creation of page elements.

type Attributes = { [name: string]: string | number | boolean };

/** Creates an element with attributes (true gives an attribute without a value, false omits it) and
 * children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...content);
  return element;
}

/** Icons of 16 x 16, each as the data of one path. */
const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  start: "M3 3h2v10H3zM13 3v10L6 8z",
  repeat: "M3 7V5.5A1.5 1.5 0 0 1 4.500 4H11V2l3 3-3 3V6H5v1zM13 9v1.500A1.500 1.500 0 0 1 11.500 12H5v2l-3-3 3-3v2h6V9z",
  photo: "M6 2.500 5 4H2.500A1.500 1.500 0 0 0 1 5.500v6A1.500 1.500 0 0 0 2.500 13h11a1.500 1.500 0 0 0 1.500-1.500v-6A1.500 1.500 0 0 0 13.500 4H11l-1-1.500zM8 5.500a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8 7a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3z",
  video: "M2.500 4A1.500 1.500 0 0 0 1 5.500v5A1.500 1.500 0 0 0 2.500 12h7a1.500 1.500 0 0 0 1.500-1.500V9l4 2.500v-7L11 7V5.500A1.500 1.500 0 0 0 9.500 4z",
  stop: "M3 3h10v10H3z",
  fit: "M2 6V2h4v2H4v2zM10 2h4v4h-2V4h-2zM14 10v4h-4v-2h2v-2zM6 14H2v-4h2v2h2zM6 6h4v4H6z",
  home: "M8 1.500 1 8h2v6h4v-4h2v4h4V8h2z",
  theme: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zm0 2v10A5 5 0 0 1 8 3z",
  save: "M7 1.500h2V8h3l-4 4-4-4h3zM2 13h12v2H2z",
  stats: "M2 9h3v5H2zM6.500 5h3v9h-3zM11 2h3v12h-3z",
  help: "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1zM7.100 10.800h1.800v1.800H7.100zM8 3.400c1.700 0 2.900 1 2.900 2.500 0 1.900-2 1.900-2 3.500H7.100c0-2.300 1.900-2.400 1.900-3.400 0-.6-.4-.9-1-.9s-1.100.4-1.100 1.100H5.100C5.100 4.500 6.300 3.400 8 3.400z",
  panel: "M1.500 2h13v12h-13zM3 3.500v9h6v-9z",
} as const;

export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  path.setAttribute("fill-rule", "evenodd");
  svg.append(path);
  return svg;
}

/** Creates a button with an icon; `label` is its accessible name and tooltip. */
export function iconButton(name: Icon, label: string, click: () => void): HTMLButtonElement {
  const button = el("button", { type: "button", class: "icon", title: label, "aria-label": label }, icon(name));
  button.addEventListener("click", click);
  return button;
}

export function setIcon(button: HTMLButtonElement, name: Icon, label: string): void {
  button.replaceChildren(icon(name));
  button.title = label;
  button.setAttribute("aria-label", label);
}

/** Whether a key event is meant for an element of the page: a text field, or an open dialog. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target;
  return (
    document.querySelector("dialog[open]") !== null ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !["range", "checkbox", "button"].includes(target.type))
  );
}

/** Downloads `content` as a file. */
export function download(name: string, url: string): void {
  const link = el("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
}
