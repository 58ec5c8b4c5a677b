// Sources of the files that a scene refers to: the server's content-addressed store, the static
// page itself, or the message. Nothing else is ever fetched, so a scene cannot make a browser
// contact other hosts.

import { LoadingManager } from "three";

import type { Log } from "./log";

const KEY = /^(?:\.?\/)?cas-v1\/([0-9a-f]{64})$/;

/** Placeholder for a refused address: neither an image nor a model. */
const REFUSED = "data:text/plain,refused";

export class Assets {
  private readonly blobs = new Map<string, string>();

  /** `inline`: base64 by SHA-256, for pages that contain their files. */
  constructor(
    private readonly log: Log,
    private readonly inline: { [key: string]: string } | null,
    private readonly changed: () => void,
  ) {}

  /** Returns the address to load for `name`, as used by an object with `resources` of its own. */
  url(name: string, resources: { [name: string]: string } = {}): string {
    if (name.startsWith("data:") || name.startsWith("blob:")) return name;
    const key = KEY.exec(name)?.[1];
    if (key !== undefined) return this.stored(key);
    const bare = name.replace(/^\.\//, "");
    const own = Object.hasOwn(resources, name) ? resources[name] : Object.hasOwn(resources, bare) ? resources[bare] : undefined;
    if (own !== undefined && (own.startsWith("data:") || KEY.test(own))) return this.url(own);
    this.log.report(`"${name}" is not loaded; files must be in the message or named "cas-v1/<sha256>"`);
    return REFUSED;
  }

  private stored(key: string): string {
    if (this.inline === null) return new URL(`cas-v1/${key}`, document.baseURI).href;
    let url = this.blobs.get(key);
    if (url === undefined) {
      const base64 = Object.hasOwn(this.inline, key) ? this.inline[key] : undefined;
      if (base64 === undefined) {
        this.log.report(`the page does not contain the file cas-v1/${key}`);
        return REFUSED;
      }
      url = URL.createObjectURL(new Blob([fromBase64(base64)]));
      this.blobs.set(key, url);
    }
    return url;
  }

  /** Returns a manager for the loaders of one object. */
  manager(resources: { [name: string]: string } = {}): LoadingManager {
    const manager = new LoadingManager(this.changed, this.changed, (url) => {
      const shown = url.length > 100 ? `${url.slice(0, 100)}...` : url;
      const hint =
        location.protocol === "file:" && url.startsWith("file:")
          ? "; browsers do not read files next to a page opened from disk: serve the folder, for example with `python3 -m http.server`"
          : "";
      if (url !== REFUSED) this.log.report(`${shown} cannot be loaded${hint}`);
    });
    manager.setURLModifier((url) => this.url(url, resources));
    return manager;
  }
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) out[i] = binary.charCodeAt(i);
  return out;
}
