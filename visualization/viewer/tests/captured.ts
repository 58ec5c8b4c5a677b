// Messages recorded from Drake 1.51.1 for the description of the protocol.

import { existsSync, readFileSync } from "node:fs";

const SHARED = "../../../shared/protocols/captures/";

export interface Captured {
  index: number;
  stage: string;
  bytes: Uint8Array;
}

/** Returns all recorded messages; null if the recordings are not next to the repository. */
export function captured(): Captured[] | null {
  const path = `${SHARED}meshcat_messages_hex.txt`;
  if (!existsSync(path)) return null;
  return readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const words = line.split(" ");
      const bytes = new Uint8Array(Buffer.from(words.at(-1) ?? "", "hex"));
      return { index: Number(words[0]), stage: words.slice(1, -1).join(" "), bytes };
    });
}

/** Returns a file of the recordings as JSON; null if they are missing. */
export function json(name: string): any {
  return existsSync(SHARED + name) ? JSON.parse(readFileSync(SHARED + name, "utf8")) : null;
}

/** Returns the recorded messages as JSON, with typed arrays as {__ext__, dtype, len, head}. */
export function asJson(): any[] {
  return readFileSync(`${SHARED}meshcat_messages.jsonl`, "utf8").trim().split("\n").map((line) => JSON.parse(line));
}
