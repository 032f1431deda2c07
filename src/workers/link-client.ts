// The worker's end of the link: sends requests to the leader and receives the answers.

import type { Duplex } from 'node:stream';
import { noMemory, type PassedAnswer, type PassedRequest } from '../http/index.ts';
import {
  ABORT,
  BODY,
  CUT,
  FrameReader,
  FrameWriter,
  HEAD,
  LAST,
  OWN,
  PIECE,
  REQUEST,
  WHOLE,
  WITH_BODY,
} from './link-frames.ts';

/** A request; the address is empty for one of the worker itself. */
type LinkRequest = Pick<PassedRequest, 'method' | 'target' | 'headers' | 'address'> & { readonly body: Uint8Array };

/** Receives an answer piece by piece. */
interface Taker {
  head(status: number, headers: ReadonlyMap<string, string>): void;
  piece(bytes: Buffer): void;
  end(): void;
  fail(error: Error): void;
}

/** While an answer in pieces has this many bytes that nobody has read, the socket is paused. */
const MOST_UNREAD = 2 ** 20;
const NO_ADDRESS = new ArrayBuffer(0);
const NO_BODY = new Uint8Array(0);

export class LinkClient {
  readonly #socket: Duplex;
  readonly #writer: FrameWriter;
  readonly #open = new Map<number, Taker>();
  #last = 0;
  #lost: Error | undefined;

  constructor(socket: Duplex) {
    this.#socket = socket;
    this.#writer = new FrameWriter(socket);
    const reader = new FrameReader((kind, request, payload) => this.#take(kind, request, payload));
    socket.on('data', (piece: Buffer) => reader.receive(piece));
    socket.on('error', () => undefined);
    socket.on('close', () => this.#lose(new Error('The process that leads this service has ended.')));
  }

  /**
   * Sends a request; resolves with its whole answer. Rejects if the leader is lost, if it cuts the
   * answer, or if there is no memory for the answer.
   */
  send(request: PassedRequest): Promise<PassedAnswer> {
    return new Promise((resolve, reject) => {
      let status = 0;
      let headers: ReadonlyMap<string, string> = new Map();
      const pieces: Buffer[] = [];
      let bytes = 0;
      const giveUp = (error: Error) => {
        if (this.#open.delete(number)) this.#writer.send(ABORT, number);
        reject(error);
      };
      request.whenGone(() => giveUp(new Error('The client has disconnected.')));
      const number = this.#begin(request, 0, {
        head: (got, named) => {
          status = got;
          headers = named;
        },
        piece: (piece) => {
          pieces.push(piece);
          bytes += piece.length;
          if (!request.hold(bytes)) giveUp(noMemory());
        },
        end: () => resolve({ status, headers, body: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces) }),
        fail: reject,
      });
    });
  }

  /**
   * Sends a GET request of the worker itself. Yields first the status, then the bytes of the
   * answer. Throws if the leader is lost, if it cuts the answer, or with the reason of `signal`.
   */
  async *stream(target: string, signal: AbortSignal): AsyncGenerator<number | Buffer, void, undefined> {
    const waiting: (number | Buffer)[] = [];
    let unread = 0;
    let isOver = false;
    let failure: Error | undefined;
    let wake = () => {};
    const add = (item: number | Buffer) => {
      waiting.push(item);
      wake();
    };
    const number = this.#begin({ method: 'GET', target, headers: [], body: NO_BODY, address: NO_ADDRESS }, OWN, {
      head: (status) => add(status),
      piece: (bytes) => {
        unread += bytes.length;
        if (unread > MOST_UNREAD) this.#socket.pause();
        add(bytes);
      },
      end: () => {
        isOver = true;
        wake();
      },
      fail: (error) => {
        failure = error;
        wake();
      },
    });
    const stop = () => {
      failure = signal.reason as Error;
      wake();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      for (;;) {
        const item = signal.aborted ? undefined : waiting.shift();
        if (item !== undefined) {
          yield item;
          if (typeof item === 'number') continue;
          unread -= item.length;
          if (unread <= MOST_UNREAD) this.#socket.resume();
        } else if (failure !== undefined) throw failure;
        else if (isOver) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      signal.removeEventListener('abort', stop);
      if (this.#open.delete(number)) this.#writer.send(ABORT, number);
      this.#socket.resume();
    }
  }

  /** Closes the socket. */
  close(): void {
    this.#socket.destroy();
  }

  /** Sends a request and returns its number. */
  #begin({ method, target, headers, body, address }: LinkRequest, flags: number, taker: Taker): number {
    const number = (this.#last % 0xffff_ffff) + 1;
    this.#last = number;
    if (this.#lost !== undefined) {
      taker.fail(this.#lost);
      return number;
    }
    this.#open.set(number, taker);
    let head = `${method} ${target}`;
    for (const [name, value] of headers) head += `\r\n${name}: ${value}`;
    const hasBody = body.length > 0;
    const facts = Uint8Array.of(flags | (hasBody ? WITH_BODY : 0), address.byteLength);
    this.#writer.send(REQUEST, number, facts, new Uint8Array(address), Buffer.from(head));
    if (hasBody) this.#writer.sendPieces(BODY, LAST, number, body);
    return number;
  }

  #take(kind: number, number: number, payload: Buffer): void {
    const taker = this.#open.get(number);
    if (taker === undefined) return;
    if (kind === PIECE) {
      taker.piece(Buffer.from(payload));
      return;
    }
    if (kind === HEAD) {
      takeHead(taker, payload);
      return;
    }
    this.#open.delete(number);
    if (kind === CUT) taker.fail(new Error('The process that leads this service has cut its answer.'));
    else {
      if (kind === WHOLE) {
        const end = 4 + payload.readUInt32LE(0);
        takeHead(taker, payload.subarray(4, end));
        if (payload.length > end) taker.piece(Buffer.from(payload.subarray(end)));
      }
      taker.end();
    }
  }

  #lose(error: Error): void {
    this.#lost = error;
    this.#writer.end();
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const taker of open) taker.fail(error);
  }
}

function takeHead(taker: Taker, bytes: Buffer): void {
  const [first = '', ...lines] = bytes.toString().split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(': ');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 2));
  }
  taker.head(Number(first.slice(0, 3)), headers);
}
