// Websocket to the server that served the page, reopened whenever it is lost.

import { type Encodable, encode } from "./msgpack";

export type State = "connecting" | "connected" | "lost";

/** Returns the websocket address for the page at `page`. */
export function socketUrl(page: { protocol: string; host: string; pathname: string }): string {
  return `${page.protocol === "https:" ? "wss:" : "ws:"}//${page.host}${page.pathname}?batch=1`;
}

export class Connection {
  state: State = "connecting";
  private socket: WebSocket | null = null;
  private everOpened = false;

  constructor(
    private readonly url: string,
    private readonly reconnectMs: number,
    private readonly on: {
      message: (bytes: Uint8Array) => void;
      /** A connection after a lost one; the server sends everything again. */
      again: () => void;
      state: (state: State) => void;
    },
  ) {}

  open(): void {
    let socket: WebSocket;
    try {
      socket = new WebSocket(this.url);
    } catch {
      // The address is invalid, for example for a page opened from disk; retrying is pointless.
      this.set("lost");
      return;
    }
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      if (this.everOpened) this.on.again();
      this.everOpened = true;
      this.set("connected");
    };
    socket.onmessage = (event: MessageEvent) => {
      if (event.data instanceof ArrayBuffer) this.on.message(new Uint8Array(event.data));
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.set("lost");
      window.setTimeout(() => this.open(), this.reconnectMs);
    };
  }

  private set(state: State): void {
    this.state = state;
    this.on.state(state);
  }

  /** Sends a message if the connection is open. */
  send(message: Encodable): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(encode(message));
  }

  /** Sends JSON as text, the form in which pictures are returned. */
  sendText(message: unknown): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
