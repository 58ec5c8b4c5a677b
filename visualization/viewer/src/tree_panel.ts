// The scene tree as a list that can be expanded and searched, and in which nodes can be shown and
// hidden.

import { el } from "./dom";
import { ownOpacity, setOwnOpacity } from "./opacity";
import { DEFAULTS, OBJECT } from "./paths";
import type { Node as TreeNode, Tree } from "./tree";

/** Maximum number of rows; more would be useless and slow. */
const MOST_ROWS = 400;
/** Interval, in milliseconds, of updates while the list is visible. */
const PERIOD = 250;

export class TreePanel {
  readonly element = el("div", { class: "tree" });
  private readonly list = el("div", { role: "tree", "aria-label": "Scene" });
  private readonly search = el("input", { type: "search", placeholder: "Search paths", "aria-label": "Search paths" });
  private readonly open = new Set<string>(["", "/drake"]);
  private selected: string | null = null;
  private drawn = "";
  private rows = 0;

  constructor(
    private readonly tree: Tree,
    private readonly changed: () => void,
  ) {
    this.element.append(this.search, this.list);
    this.search.addEventListener("input", () => this.update(true));
    this.list.addEventListener("keydown", (event) => this.key(event));
    window.setInterval(() => this.update(false), PERIOD);
  }

  /** Redraws the list if it is visible and anything in it has changed. */
  update(force: boolean): void {
    if (this.element.offsetParent === null && !force) return;
    const state = `${this.tree.structure} ${this.visibility(this.tree.root)}`;
    if (state === this.drawn && !force) return;
    this.drawn = state;
    // Redrawing removes the focus, which keyboard users need back.
    const focused = document.activeElement?.closest<HTMLElement>("[data-path]")?.dataset["path"];
    this.rows = 0;
    const query = this.search.value.trim().toLowerCase();
    const rows: HTMLElement[] = [];
    if (query === "") for (const child of this.sorted(this.tree.root)) this.add(child, 1, rows);
    else this.find(this.tree.root, query, rows);
    if (this.rows > MOST_ROWS) rows.push(el("p", { class: "note" }, `${this.rows - MOST_ROWS} more: search to see them`));
    if (rows.length === 0) rows.push(el("p", { class: "note" }, "No matching path"));
    this.list.replaceChildren(...rows);
    if (focused !== undefined) this.focus(focused);
  }

  /** Returns the visibility of all expanded nodes, for comparison. */
  private visibility(node: TreeNode): string {
    let text = node.object.visible ? "1" : "0";
    if (this.open.has(node.path)) for (const child of node.children.values()) text += this.visibility(child);
    return text;
  }

  private sorted(node: TreeNode): TreeNode[] {
    const rank = (child: TreeNode): number => (node === this.tree.root && DEFAULTS.has(child.name) ? 1 : 0);
    return [...node.children.values()].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  }

  private add(node: TreeNode, level: number, rows: HTMLElement[]): void {
    if (++this.rows <= MOST_ROWS) rows.push(this.row(node, node.name, level));
    if (this.selected === node.path && this.rows <= MOST_ROWS) rows.push(this.detail(node));
    if (this.open.has(node.path)) for (const child of this.sorted(node)) this.add(child, level + 1, rows);
  }

  private find(node: TreeNode, query: string, rows: HTMLElement[]): void {
    for (const child of this.sorted(node)) {
      if (child.path.toLowerCase().includes(query) && child.name !== OBJECT) {
        if (++this.rows <= MOST_ROWS) rows.push(this.row(child, child.path, 1));
        if (this.selected === child.path && this.rows <= MOST_ROWS) rows.push(this.detail(child));
      }
      this.find(child, query, rows);
    }
  }

  private row(node: TreeNode, label: string, level: number): HTMLElement {
    const { path } = node;
    const folder = node.children.size > 0;
    const opened = this.open.has(path);
    const visible = el("input", { type: "checkbox", "aria-label": `Show ${path}`, checked: node.object.visible, tabindex: -1 });
    visible.addEventListener("change", () => {
      node.object.visible = visible.checked;
      this.changed();
    });
    const arrow = el("span", { class: "arrow", "aria-hidden": "true" }, folder ? (opened ? "▾" : "▸") : "");
    arrow.addEventListener("click", () => this.toggle(path));
    const name = el("span", { class: "name", title: path }, label);
    name.addEventListener("click", () => this.select(path));
    name.addEventListener("dblclick", () => this.toggle(path));
    const row = el(
      "div",
      {
        class: this.selected === path ? "row selected" : "row",
        role: "treeitem",
        tabindex: 0,
        "aria-level": level,
        "aria-label": path,
        "aria-selected": String(this.selected === path),
        "data-path": path,
        style: `padding-left:${(level - 1) * 14}px`,
      },
      arrow,
      visible,
      name,
    );
    if (folder) row.setAttribute("aria-expanded", String(opened));
    return row;
  }

  /** Returns the editable details of the selected node. */
  private detail(node: TreeNode): HTMLElement {
    const opacity = ownOpacity(node.object);
    if (opacity === null) return el("p", { class: "note" }, node.object.type);
    const input = el("input", { type: "range", min: 0, max: 1, step: 0.01, value: opacity, "aria-label": `Opacity of ${node.path}` });
    input.addEventListener("input", () => {
      setOwnOpacity(node.object, Number(input.value));
      this.changed();
    });
    return el("label", { class: "detail" }, `${node.object.type} · opacity`, input);
  }

  private toggle(path: string): void {
    if (!this.open.delete(path)) this.open.add(path);
    this.update(true);
  }

  private select(path: string): void {
    this.selected = this.selected === path ? null : path;
    this.update(true);
  }

  private focus(path: string): void {
    for (const row of this.list.querySelectorAll<HTMLElement>("[data-path]")) if (row.dataset["path"] === path) row.focus();
  }

  /** Handles the keys of a tree: arrows to move and expand, space to show and hide, return to
   * select. */
  private key(event: KeyboardEvent): void {
    const row = event.target instanceof HTMLElement && event.target.getAttribute("role") === "treeitem" ? event.target : null;
    const path = row?.dataset["path"];
    if (row === null || path === undefined) return;
    const rows = [...this.list.querySelectorAll<HTMLElement>("[data-path]")];
    const at = rows.indexOf(row);
    const opened = this.open.has(path);
    if (event.key === "ArrowDown") rows[at + 1]?.focus();
    else if (event.key === "ArrowUp") rows[at - 1]?.focus();
    else if (event.key === "ArrowRight" && !opened) this.toggle(path);
    else if (event.key === "ArrowLeft" && opened) this.toggle(path);
    else if (event.key === "Enter") this.select(path);
    else if (event.key === " ") row.querySelector("input")?.click();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
