// Unpacks the viewer of a static page and runs it. Compression makes the page a third of the size,
// and the file needs no network.
(async () => {
  "use strict";
  const show = (text) => {
    const note = document.createElement("p");
    note.setAttribute("role", "alert");
    note.style.cssText = "position:fixed;inset:0;margin:auto;height:4em;text-align:center;font:16px sans-serif";
    note.textContent = text;
    document.body.append(note);
  };
  if (typeof DecompressionStream === "undefined") {
    show("This page needs a browser from 2023 or later.");
    return;
  }
  try {
    const text = atob(document.getElementById("tarragon-viewer").textContent.trim());
    const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.body.append(script);
  } catch (error) {
    show(`The viewer in this page is damaged: ${error}`);
  }
})();
