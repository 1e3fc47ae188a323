import { apiOf } from "./fleet";
import type { StreamFrame } from "./schema";

const RETRY_FIRST_MS = 250;
const RETRY_MOST_MS = 4_000;
/** Silence after which the connection counts as lost: the stream sends a rate every 200 ms. */
const SILENCE_MS = 4_000;

export interface StreamListener {
  onFrame(frame: StreamFrame): void;
  onOpen(): void;
  /** Called for every failed attempt; `retry_ms` is the time until the next one. */
  onLost(retry_ms: number): void;
  /** The newest known sequence number, from which the stream continues; null before the first hello. */
  lastSeq(): number | null;
}

/** The live stream: it connects, reconnects for ever, and requests the events that it missed. */
export class Stream {
  private socket: WebSocket | null = null;
  private retryMs = RETRY_FIRST_MS;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private silenceTimer: ReturnType<typeof setTimeout> | undefined;
  private wantsMessages = false;
  private closed = false;

  constructor(private readonly listener: StreamListener) {}

  open(): void {
    if (this.closed) return;
    clearTimeout(this.retryTimer);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const seq = this.listener.lastSeq();
    const after = seq === null ? "" : `?after=${seq}`;
    const socket = new WebSocket(`${scheme}://${location.host}${apiOf("/stream")}${after}`);
    this.socket = socket;
    this.expectSound(socket);
    socket.onopen = () => {
      this.retryMs = RETRY_FIRST_MS;
      if (this.wantsMessages) socket.send(JSON.stringify({ messages: true }));
      this.listener.onOpen();
    };
    socket.onmessage = (message) => {
      this.expectSound(socket);
      this.listener.onFrame(JSON.parse(message.data as string) as StreamFrame);
    };
    socket.onclose = () => this.lost(socket);
  }

  /** Requests message lines, or stops them. */
  messages(wanted: boolean): void {
    if (wanted === this.wantsMessages) return;
    this.wantsMessages = wanted;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ messages: wanted }));
  }

  retryNow(): void {
    this.retryMs = RETRY_FIRST_MS;
    if (this.socket === null) this.open();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retryTimer);
    clearTimeout(this.silenceTimer);
    this.socket?.close();
  }

  private expectSound(socket: WebSocket): void {
    clearTimeout(this.silenceTimer);
    this.silenceTimer = setTimeout(() => {
      socket.close();
      this.lost(socket);
    }, SILENCE_MS);
  }

  private lost(socket: WebSocket): void {
    if (this.socket !== socket || this.closed) return;
    this.socket = null;
    clearTimeout(this.silenceTimer);
    this.listener.onLost(this.retryMs);
    this.retryTimer = setTimeout(() => this.open(), this.retryMs);
    this.retryMs = Math.min(RETRY_MOST_MS, this.retryMs * 2);
  }
}
