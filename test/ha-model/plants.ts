// Names the ways in which the protocol can be made wrong, to show that the search finds each.

import type { Invariant } from './invariants.ts';

/** Switches of the model. Without any, the model is the correct protocol. */
export interface Plants {
  /** Appends do not compare their epoch with that of the lease. */
  noEpochGuard?: boolean;
  /**
   * The lease lives on the clocks of the processes: a leader appends while its own clock says that
   * it leads, and another takes over when its own clock says that the lease is over.
   */
  ownClock?: boolean;
  /** A commit is acknowledged when the primary has it, before the standby does. */
  acknowledgedBeforeStandby?: boolean;
  /** After an unknown outcome, the leader appends again behind the end of the log. */
  appendAgain?: boolean;
  /** A new leader serves without reading the log to its end. */
  noReadToEnd?: boolean;
  /** A repeated request is answered from a record of the leader that is not durable yet. */
  answerNotDurable?: boolean;
  /** The lease is read without a lock before the row is inserted, and can be lost in between. */
  guardWithoutLock?: boolean;
  /** An unknown outcome is looked up in rows of which the standby may know nothing. */
  lookupUnconfirmed?: boolean;
  /** Processes apply rows of which the standby may know nothing. */
  readsUnconfirmed?: boolean;
  /** An unknown outcome is resolved by LSN and checksum, without the epoch of the row. */
  lookupWithoutEpoch?: boolean;
  /** A process takes the lease although it has not expired. */
  takesEarly?: boolean;
  /** Appends do not require that their first LSN follows the last one of the log. */
  noContiguity?: boolean;
  /** A leader that does not find its append goes on in the same epoch. */
  goesOnWhenMissing?: boolean;
  /** The lease of a dead process never ends. */
  leaseNeverExpires?: boolean;
}

/** A wrong protocol, and the invariant whose violation has the shortest trace. */
export interface Plant {
  readonly plants: Plants;
  readonly violates: Invariant;
}

export const PLANTS: readonly Plant[] = [
  { plants: { noEpochGuard: true }, violates: 'complete' },
  { plants: { ownClock: true }, violates: 'complete' },
  { plants: { acknowledgedBeforeStandby: true }, violates: 'keptAfterPromotion' },
  { plants: { appendAgain: true }, violates: 'once' },
  { plants: { noReadToEnd: true }, violates: 'complete' },
  { plants: { answerNotDurable: true }, violates: 'keptAfterPromotion' },
  { plants: { guardWithoutLock: true }, violates: 'complete' },
  { plants: { lookupUnconfirmed: true }, violates: 'keptAfterPromotion' },
  { plants: { readsUnconfirmed: true }, violates: 'shownForever' },
  { plants: { lookupWithoutEpoch: true }, violates: 'oneLeader' },
  { plants: { goesOnWhenMissing: true }, violates: 'complete' },
  { plants: { goesOnWhenMissing: true, noContiguity: true }, violates: 'once' },
];

/** For invariants that no plant violates first: a plant that violates them, with two requests. */
export const LATER: Readonly<Partial<Record<Invariant, Plants>>> = {
  kept: { answerNotDurable: true },
  prefix: { acknowledgedBeforeStandby: true },
  neverBack: { acknowledgedBeforeStandby: true },
  sameAnswer: { acknowledgedBeforeStandby: true },
};

/**
 * Changes that break nothing by themselves. The guard gives safety; the expiry of the lease only
 * keeps leaders from changing needlessly. Contiguity is a second protection behind the guard.
 */
export const HARMLESS: readonly Plants[] = [{ takesEarly: true }, { noContiguity: true }];

/** A wrong protocol that loses nothing, but does not recover. */
export const STUCK: Plants = { leaseNeverExpires: true };
