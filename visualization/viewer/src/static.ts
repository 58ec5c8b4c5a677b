// Scenes inside a file: no server, no network.

import { fromBase64 } from "./assets";

export interface StaticScene {
  /** Base64 of raw deflate of the messages, each preceded by its length as u32 little-endian. */
  commands: string;
  /** Files by SHA-256, as base64; absent if they lie next to the page. */
  assets: { [key: string]: string } | null;
}

/** Returns the scene of this page; null if the page comes from a server. */
export function findStatic(): StaticScene | null {
  const text = document.getElementById("tarragon-static")?.textContent;
  if (text === undefined || text === null) return null;
  const json = JSON.parse(text) as { commands?: unknown; assets?: unknown };
  return {
    commands: typeof json.commands === "string" ? json.commands : "",
    assets: typeof json.assets === "object" && json.assets !== null ? (json.assets as { [key: string]: string }) : null,
  };
}

async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Splits `bytes` into messages, each preceded by its length. */
export function split(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = at + 4 <= bytes.length ? view.getUint32(at, true) : Infinity;
    if (at + 4 + length > bytes.length) throw new Error(`the scene ends within message ${out.length}`);
    out.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return out;
}

/** Returns the messages of a static scene. */
export async function messagesOf(scene: StaticScene): Promise<Uint8Array[]> {
  return split(await inflate(fromBase64(scene.commands)));
}
