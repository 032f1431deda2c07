// A log in memory whose commits happen at a remote, as with a log in PostgreSQL: confirmations come
// late or twice, connections are cut before or after a commit, and outcomes stay unknown.
//
// The log does all that its interface allows, and no more: it confirms only what is durable at the
// remote, and it fails rather than guess. What a crash loses is exactly what was not durable. Its
// faults (`Lie`) do what the interface forbids, to show that a history notices.

import { HedgerowError } from '../../src/errors.ts';
import type { OpenLog } from '../../src/storage/log-store.ts';
import { LogMemory } from '../support/memory-log.ts';
import type { Random } from '../support/random.ts';
import { turn } from '../support/sim-engine.ts';

/** What no log may do. */
export const LIES = [
  'acknowledges before the commit',
  'loses a durable frame',
  'reports more as durable than there is',
] as const;
export type Lie = (typeof LIES)[number];

/** How often what happens: probabilities for each group of frames, and turns of the event loop. */
export interface Manners {
  /** A confirmation takes up to this many turns. */
  lateTurns: number;
  /** The remote refuses the commit. */
  refused: number;
  /** The connection is cut before the commit. */
  cutBefore: number;
  /** The connection is cut after the commit, and the log looks up whether it was made. */
  cutAfter: number;
  /** The lookup fails too, so that the outcome stays unknown. */
  lookupFails: number;
  /** A confirmation comes again later. */
  twice: number;
}

/** The remote as one process uses it. */
export class RemoteMemory extends LogMemory {
  readonly #random: Random;
  readonly #manners: Manners;
  readonly #lie: Lie | undefined;
  readonly #saw: (what: string) => void;
  /** Whether the group has been sent, so that the next step is its commit. */
  #isSent = false;

  constructor(random: Random, manners: Manners, saw: (what: string) => void = () => {}, lie?: Lie) {
    super();
    this.#random = random;
    this.#manners = manners;
    this.#saw = saw;
    this.#lie = lie;
  }

  /**
   * Ends the process. `arrives`: a commit that is on its way is made nevertheless. Returns what the
   * next process finds, in a log that behaves well until `continueWith`.
   */
  end(arrives: boolean): LogMemory {
    const next = arrives ? this.kill() : this.crash();
    if (this.#lie === 'loses a durable frame' && next.frames.length > 0) next.frames.pop();
    return next;
  }

  /** Takes over what an earlier process has left. */
  continueWith({ frames, truncatedLsn }: LogMemory): void {
    this.frames = frames;
    this.truncatedLsn = truncatedLsn;
  }

  readonly openRemote: OpenLog = async (opening) => {
    const { onDurable, defer = (step) => void setImmediate(step) } = opening;
    const confirm = (lsn: number) => {
      onDurable(lsn);
      if (!this.#random.chance(this.#manners.twice)) return;
      void this.#late().then(() => {
        if (this.stopped) return;
        this.#saw('confirmed twice');
        onDurable(lsn);
      });
    };
    const log = await this.open({
      ...opening,
      onDurable: (lsn) => confirm(this.#lie === 'reports more as durable than there is' ? log.headLsn : lsn),
      defer: (step) =>
        defer(() => {
          if (this.#lie === 'acknowledges before the commit') confirm(log.headLsn);
          step();
        }),
    });
    return log;
  };

  /** Sends a group to the remote, or commits it there. */
  override async step(): Promise<void> {
    const isCommit = this.#isSent;
    this.#isSent = !isCommit;
    await this.#late();
    if (this.stopped) return super.step();
    return isCommit ? this.#commit() : this.#send();
  }

  async #send(): Promise<void> {
    if (this.#happens('cutBefore')) throw failure('cut before the commit');
    return super.step();
  }

  async #commit(): Promise<void> {
    if (this.#happens('refused')) {
      this.frames = this.frames.filter(({ firstLsn }) => firstLsn <= this.durableLsn);
      throw failure('refused');
    }
    if (!this.#happens('cutAfter')) return super.step();
    const last = this.frames.at(-1);
    if (last !== undefined) this.durableLsn = last.firstLsn + last.operations - 1;
    if (this.#happens('lookupFails')) throw failure('the outcome is unknown');
    await this.#late();
    return super.step();
  }

  #happens(what: 'refused' | 'cutBefore' | 'cutAfter' | 'lookupFails'): boolean {
    if (!this.#random.chance(this.#manners[what])) return false;
    this.#saw(what);
    return true;
  }

  async #late(): Promise<void> {
    const turns = this.#random.below(this.#manners.lateTurns + 1);
    if (turns > 2) this.#saw('late');
    for (let count = 0; count < turns && !this.stopped; count++) await turn();
  }
}

function failure(detail: string): HedgerowError {
  return new HedgerowError('log_failed', `The remote log cannot be written any more: ${detail}.`);
}
