// A worker's connection to the process that leads the service.

import { Socket } from 'node:net';
import type { OwnLeader } from '../http/index.ts';
import { FeedLink } from './feed-link.ts';
import { LinkClient } from './link-client.ts';
import {
  FEED_FD,
  type FromWorker,
  type Question,
  REQUESTS_FD,
  STATE_FD,
  type StartMessage,
  type ToWorker,
  type Usage,
} from './messages.ts';
import { StateReader } from './shared-state.ts';

export interface PeerEvents {
  /** Returns the answer to a question of the leader. */
  answer(question: Question): Promise<unknown>;
  usage(usage: Usage): void;
  reopen(): void;
  close(reason: string): void;
}

export class WorkerPeer<C> {
  readonly number: number;
  readonly port: number;
  readonly config: C;
  readonly own: Omit<OwnLeader, 'isStuck'>;
  readonly #state = new StateReader(STATE_FD);
  readonly #feed: LinkClient;
  #events: PeerEvents | undefined;
  #isClosed: string | undefined;
  /** Connections that came before they could be served. */
  #connections: Socket[] = [];
  #serve: ((socket: Socket) => void) | undefined;

  private constructor({ config, number, port }: StartMessage<C>) {
    this.config = config;
    this.number = number;
    this.port = port;
    const requests = new LinkClient(socketOf(REQUESTS_FD));
    this.#feed = new LinkClient(socketOf(FEED_FD));
    this.own = {
      freshLsn: () => this.#state.visibleLsn(),
      pass: (request) => requests.send(request),
    };
    process.on('message', (message: ToWorker<C>, socket: Socket | undefined) => this.#receive(message, socket));
    // The leader has ended: nothing that this process answers could be relied on.
    process.on('disconnect', () => process.exit(1));
  }

  /** Resolves when the leader has told this process what to be. */
  static begin<C>(): Promise<WorkerPeer<C>> {
    return new Promise((resolve) => {
      process.once('message', (message: StartMessage<C>) => resolve(new WorkerPeer(message)));
    });
  }

  /** Sets what is done with the leader's messages. */
  listen(events: PeerEvents): void {
    this.#events = events;
    if (this.#isClosed !== undefined) events.close(this.#isClosed);
  }

  /** What this process receives of the log; `url` is the address of the service. */
  feed(url: string): FeedLink {
    return new FeedLink(url, this.#feed);
  }

  /** Returns whether the leader has a transaction of a session. */
  hasSession(name: string): boolean {
    return this.#state.hasSession(name);
  }

  /** Sets what serves the connections that the leader hands over. */
  onConnection(serve: (socket: Socket) => void): void {
    this.#serve = serve;
    for (const socket of this.#connections) serve(socket);
    this.#connections = [];
  }

  /** Ends this process, because it cannot serve. */
  async fail(detail: string, isDirectoryBad: boolean): Promise<never> {
    await this.tell({ kind: 'failed', detail, isDirectoryBad });
    // Without exit handlers: that of the service's log throws while the log is being opened.
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => undefined);
  }

  tell(message: FromWorker): Promise<void> {
    return new Promise((resolve) => {
      if (process.connected) process.send!(message, undefined, undefined, () => resolve());
      else resolve();
    });
  }

  #receive(message: ToWorker<C>, socket: Socket | undefined): void {
    const events = this.#events;
    if (message.kind === 'connection') this.#take(message.id, socket);
    else if (message.kind === 'close') {
      this.#isClosed = message.reason;
      events?.close(message.reason);
    } else if (message.kind === 'ping') void this.tell({ kind: 'pong' });
    else if (message.kind === 'reopen') events?.reopen();
    else if (message.kind === 'usage') events?.usage(message.usage);
    else if (message.kind === 'ask') {
      const { id, question } = message;
      Promise.resolve(events?.answer(question)).then(
        (value) => this.tell({ kind: 'answer', id, value }),
        (error: Error) => this.tell({ kind: 'answer', id, value: undefined, error: error.message }),
      );
    }
  }

  #take(id: number, socket: Socket | undefined): void {
    void this.tell({ kind: 'took', id });
    // The client may have gone meanwhile.
    if (socket === undefined) return;
    if (this.#serve === undefined) this.#connections.push(socket);
    else this.#serve(socket);
  }
}

function socketOf(fd: number): Socket {
  return new Socket({ fd, readable: true, writable: true });
}
