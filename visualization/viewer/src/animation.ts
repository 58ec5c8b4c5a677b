// Playback of an animation: the clock, and setting the sampled values in the scene.

import type { Log } from "./log";
import type { Value } from "./msgpack";
import { OBJECT } from "./paths";
import { type Clip, position, sample } from "./playback";
import { getProperty, setProperty } from "./properties";
import type { Tree } from "./tree";
import { moveVertices, positionsOf } from "./vertices";

interface Saved {
  path: string;
  property: string;
  value: Value;
}

export class Player {
  clip: Clip | null = null;
  playing = false;
  /** Playback speed as a multiple of real time. */
  speed = 1;
  /** Time within the clip, in seconds. */
  time = 0;
  /** Called whenever any of the above has changed. */
  changed: () => void = () => undefined;

  /** Seconds of the clip's clock since playback began, over all repetitions. */
  private elapsed = 0;
  private last: number | null = null;
  /** State of the scene before the animation. */
  private saved: Saved[] = [];
  private readonly savedVertices = new Map<string, Float32Array>();

  constructor(
    private readonly tree: Tree,
    private readonly log: Log,
    private readonly request: () => void,
  ) {}

  /** Replaces the animation; one without tracks counts as none. */
  load(clip: Clip | null): void {
    this.clip = clip !== null && clip.tracks.length + clip.vertices.length > 0 ? clip : null;
    this.playing = false;
    this.forget();
    this.seek(0, false);
    if (this.clip?.play === true) this.play();
  }

  play(): void {
    const { clip } = this;
    if (clip === null) return;
    this.save(clip);
    if (position(clip, this.elapsed).finished) this.elapsed = 0;
    this.playing = true;
    this.last = null;
    this.changed();
    this.request();
  }

  pause(): void {
    this.playing = false;
    this.changed();
  }

  /** Goes to `time` within the first pass of the clip, and shows it unless `show` is false. */
  seek(time: number, show = true): void {
    const { clip } = this;
    this.elapsed = Math.min(Math.max(0, time), clip?.duration ?? 0);
    this.time = this.elapsed;
    if (show && clip !== null) {
      this.save(clip);
      this.apply(clip);
    }
    this.changed();
    this.request();
  }

  /** Restores the scene to its state before the animation, and the clock to its start. */
  reset(): void {
    this.playing = false;
    this.elapsed = 0;
    this.time = 0;
    for (const { path, property, value } of this.saved) this.set(path, property, value);
    for (const [path, positions] of this.savedVertices) this.move(path, positions);
    this.forget();
    this.changed();
    this.request();
  }

  /** Called in every frame; returns true while another frame is needed. */
  step(now: number): boolean {
    const { clip } = this;
    if (!this.playing || clip === null) return false;
    this.elapsed += this.last === null ? 0 : (now - this.last) * this.speed;
    this.last = now;
    const { time, finished } = position(clip, this.elapsed);
    this.time = time;
    this.apply(clip);
    if (finished) {
      if (clip.clampWhenFinished) this.playing = false;
      else this.reset();
    }
    this.changed();
    return this.playing;
  }

  private forget(): void {
    this.saved = [];
    this.savedVertices.clear();
  }

  /** Remembers the state of the scene, unless it was remembered before. */
  private save(clip: Clip): void {
    if (this.saved.length + this.savedVertices.size > 0) return;
    for (const { path } of clip.vertices) {
      const mesh = this.tree.find(`${path}/${OBJECT}`);
      const positions = mesh === null ? null : positionsOf(mesh.object);
      if (positions !== null) this.savedVertices.set(path, positions.slice());
    }
    for (const { path, property } of clip.tracks) {
      const node = this.tree.find(path);
      const value = node === null ? null : getProperty(node.object, property);
      if (value !== null) this.saved.push({ path, property, value });
    }
  }

  private apply(clip: Clip): void {
    for (const track of clip.tracks) this.set(track.path, track.property, sample(track, this.time));
    for (const track of clip.vertices) {
      try {
        const positions = track.sample(this.time);
        if (positions !== null) this.move(track.path, positions);
      } catch (error) {
        this.log.failure(`animation of ${track.path}`, error);
      }
    }
  }

  private move(path: string, positions: Float32Array): void {
    const mesh = this.tree.find(`${path}/${OBJECT}`);
    if (mesh === null) return;
    try {
      moveVertices(mesh.object, positions);
    } catch (error) {
      this.log.failure(`animation of ${path}`, error);
    }
  }

  private set(path: string, property: string, value: Value): void {
    // Does not create missing nodes: the animation may refer to deleted objects.
    if (this.tree.find(path) === null) return;
    try {
      setProperty(this.tree, path, property, value);
    } catch (error) {
      this.log.failure(`animation of ${path}`, error);
    }
  }
}
