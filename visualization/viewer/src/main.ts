// The page: connects its parts, and feeds them messages from a server or from the page itself.

import { Player } from "./animation";
import { AnimationBar } from "./animation_bar";
import { Assets } from "./assets";
import { Cameras } from "./cameras";
import { saveImage } from "./capture";
import { Commands } from "./commands";
import { Connection, socketUrl } from "./connection";
import { ControlsPanel } from "./controls_panel";
import { Dragging } from "./drag";
import { Environment, LOOKS } from "./environment";
import { Gamepads } from "./gamepad";
import { treeHook } from "./hook";
import { Log } from "./log";
import type { Encodable } from "./msgpack";
import { Panel } from "./panel";
import { findStatic, messagesOf } from "./static";
import { Stats } from "./stats";
import { Theme } from "./theme";
import { Tree } from "./tree";
import { TreePanel } from "./tree_panel";
import { makeRenderer, View } from "./view";
import { Webxr } from "./webxr";

/** Maximum time, in milliseconds, that a requested picture waits for objects being loaded. */
const PICTURE_PATIENCE = 5000;

function isOn(value: string | null): boolean {
  return value !== null && ["on", "true", "1", "yes"].includes(value.toLowerCase());
}

function start(): void {
  const log = new Log();
  const options = new URLSearchParams(location.search);
  const saved = findStatic();
  const canvas = document.getElementById("canvas") as HTMLCanvasElement;
  const renderer = makeRenderer(canvas);

  let request = (): void => undefined;
  const ask = (): void => request();
  const tree = new Tree(() => undefined);
  const assets = new Assets(log, saved?.assets ?? null, ask);
  const environment = new Environment(tree, renderer, assets, log, ask);
  const cameras = new Cameras(tree, canvas, ask);
  environment.addDefaults(cameras.camera as import("three").PerspectiveCamera);
  const view = new View(renderer, tree, cameras, environment, log);
  request = view.request;

  const reconnect = Number(options.get("reconnect_ms"));
  const connection =
    saved === null
      ? new Connection(socketUrl(location), reconnect > 0 ? reconnect : 1000, {
          message: (bytes) => commands.handle(bytes),
          again: () => {
            commands.reset();
            pads?.again();
          },
          state: (state) => {
            panel.state(state);
            // A new server does not know the pose of the camera.
            lastPose = "";
            ask();
          },
        })
      : null;
  const send = (message: Encodable): void => connection?.send(message);

  const player = new Player(tree, log, ask);
  const bar = new AnimationBar(player);
  const controls = new ControlsPanel(send);
  // A saved scene is unpacked before its objects are loaded.
  let unpacking = saved === null ? 0 : 1;
  const loading = (): number => unpacking + commands.loading;
  const stats = new Stats(renderer, loading);
  const webxr = new Webxr(view, log);
  const enableWebxr = (mode: string): void => {
    webxr.enable(mode).catch((error: unknown) => log.failure("WebXR", error));
  };

  const captureImage = (width: number | null, height: number | null): void => {
    const until = performance.now() + PICTURE_PATIENCE;
    const attempt = (): void => {
      if (loading() > 0 && performance.now() < until) window.setTimeout(attempt, 20);
      else connection?.sendText({ type: "img", data: view.picture(width, height) });
    };
    attempt();
  };

  const commands = new Commands({
    log, tree, assets, cameras, environment, player, controls, captureImage, enableWebxr,
    request: ask,
    realtimeRate: (rate) => stats.rate(rate),
    showRealtimeRate: (show) => stats.show(show),
    saveImage: () => saveImage(view),
    showControllers: () => webxr.showControllers(),
  });

  view.beforeFrame.push((now) => player.step(now));
  view.afterFrame.push((now) => stats.frame(now));

  let lastPose = "";
  const tracked = options.get("tracked_camera");
  if (tracked !== null && !["off", "false", "0", "no"].includes(tracked.toLowerCase())) {
    view.afterFrame.push(() => {
      if (connection?.state !== "connected") return;
      const camera_pose = cameras.pose();
      const is_perspective = cameras.camera.type === "PerspectiveCamera";
      const text = `${camera_pose.join()} ${is_perspective}`;
      if (text === lastPose) return;
      lastPose = text;
      send({ type: "camera_pose", camera_pose, is_perspective });
    });
  }

  const theme = new Theme((name) => {
    environment.setLook(LOOKS[name]);
    ask();
  });
  const panel = new Panel({
    view, log, theme, stats, controls,
    tree: new TreePanel(tree, ask),
    webxr: webxr.element,
    download: saved === null ? "download" : null,
    hidden: options.get("controls") === "off",
  });
  document.body.append(panel.element, stats.element, bar.element);
  theme.update();

  window.tarragon = {
    scene: tree.scene,
    renderer,
    ...treeHook(tree),
    get camera() {
      return cameras.camera;
    },
    get messages() {
      return commands.count;
    },
    get errors() {
      return [...log.errors];
    },
    get connected() {
      return connection?.state === "connected";
    },
    get loading() {
      return loading();
    },
    renderNow: view.draw,
  };

  const mode = options.get("webxr");
  if (isOn(options.get("controller"))) webxr.showControllers();
  let pads: Gamepads | null = null;
  if (saved === null) {
    if (mode !== null) enableWebxr(mode);
    pads = new Gamepads(send);
    new Dragging(canvas, tree, () => cameras.camera, send);
    connection?.open();
    return;
  }
  panel.state("static");
  messagesOf(saved).then(
    (messages) => {
      for (const message of messages) commands.handle(message);
      unpacking = 0;
    },
    (error: unknown) => {
      unpacking = 0;
      log.failure("the scene in this page is damaged", error);
    },
  );
}

start();
