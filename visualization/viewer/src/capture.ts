// Pictures and videos of the view.

import { download, iconButton, setIcon } from "./dom";
import type { Log } from "./log";
import type { View } from "./view";

function stamp(): string {
  return new Date().toISOString().replace(/[:.]/g, "-").slice(0, 19);
}

export function saveImage(view: View): void {
  download(`tarragon-${stamp()}.png`, view.picture(null, null));
}

const VIDEO_TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

/** Returns a button that starts a video and, pressed again, ends and saves it; null if the browser
 * cannot record. */
export function videoButton(view: View, log: Log): HTMLButtonElement | null {
  const canvas = view.renderer.domElement;
  if (typeof MediaRecorder === "undefined" || typeof canvas.captureStream !== "function") return null;
  const type = VIDEO_TYPES.find((candidate) => MediaRecorder.isTypeSupported(candidate));
  if (type === undefined) return null;
  let recorder: MediaRecorder | null = null;
  // A video needs frames even while nothing changes.
  view.beforeFrame.push(() => recorder !== null);

  const start = (): void => {
    const parts: Blob[] = [];
    const current = new MediaRecorder(canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: 12e6 });
    current.ondataavailable = (event) => parts.push(event.data);
    current.onstop = () => {
      const url = URL.createObjectURL(new Blob(parts, { type }));
      download(`tarragon-${stamp()}.${type.includes("mp4") ? "mp4" : "webm"}`, url);
      window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
    };
    current.start(1000);
    recorder = current;
    setIcon(button, "stop", "Stop recording");
    button.classList.add("active");
    view.request();
  };
  const stop = (): void => {
    recorder?.stop();
    recorder = null;
    setIcon(button, "video", "Record a video");
    button.classList.remove("active");
  };
  const button = iconButton("video", "Record a video", () => {
    try {
      if (recorder === null) start();
      else stop();
    } catch (error) {
      log.failure("video", error);
      stop();
    }
  });
  return button;
}
