// The kinds of simulated histories, and the frequency of each event in them.

import type { Random } from '../support/random.ts';

/** The kinds that the usual seeds draw. */
const USUAL_NAMES = [
  'plain',
  'crashes',
  'faults',
  'full',
  'memory',
  'damage',
  'tables',
  'definitions',
  'transactions',
] as const;
/**
 * All kinds. The usual seeds do not draw the last one, which has seeds of its own: every seed keeps
 * the history that it had before there was this kind.
 */
export const GO_NAMES = [...USUAL_NAMES, 'texts'] as const;
export type GoName = (typeof GO_NAMES)[number];

/**
 * Names of the steps in a history. `Weights` gives each step its frequency relative to the others.
 */
export const STEP_NAMES = [
  'insert',
  'equal',
  'bulk',
  'remove',
  'change',
  'stage',
  'commit',
  'duel',
  'read',
  'cursor',
  'pin',
  'document',
  'retry',
  'store',
  'compact',
  'expire',
  'table',
  'alter',
  'index',
  'threshold',
  'figures',
  'settle',
  'reopen',
  'kill',
  'power',
  'backup',
  'damage',
  'short',
  'fill',
  'textIndex',
  'search',
  'session',
] as const;
export type StepName = (typeof STEP_NAMES)[number];
export type Weights = Record<StepName, number>;

const PLAIN: Weights = {
  insert: 22,
  equal: 3,
  bulk: 6,
  remove: 8,
  change: 8,
  stage: 6,
  commit: 5,
  duel: 2,
  read: 10,
  cursor: 5,
  pin: 3,
  document: 4,
  retry: 3,
  store: 2,
  compact: 7,
  expire: 1,
  table: 2,
  alter: 2,
  index: 1,
  threshold: 1,
  figures: 2,
  settle: 3,
  reopen: 2,
  kill: 1,
  power: 1,
  backup: 0.25,
  damage: 0,
  short: 0,
  fill: 0,
  textIndex: 0,
  search: 0,
  session: 0,
};

const MORE: Record<GoName, Partial<Weights>> = {
  plain: {},
  crashes: { kill: 4, power: 8, compact: 10 },
  faults: { kill: 2, power: 3 },
  full: { fill: 9, bulk: 12, compact: 10 },
  memory: { short: 10, bulk: 12, commit: 9, stage: 9 },
  damage: { damage: 7, compact: 10, kill: 2 },
  tables: { table: 20, insert: 30, compact: 6, reopen: 3 },
  definitions: { alter: 16, table: 8, index: 6, document: 10, threshold: 4 },
  transactions: { stage: 30, commit: 14, duel: 8, change: 14 },
  texts: {
    textIndex: 14,
    search: 40,
    session: 9,
    bulk: 16,
    change: 12,
    table: 10,
    alter: 14,
    compact: 10,
    short: 2,
    backup: 1,
    damage: 0.5,
    read: 4,
    cursor: 2,
    document: 1,
  },
};

export function weightsOf(go: GoName): Weights {
  return { ...PLAIN, ...MORE[go] };
}

export function goOf(seed: number): GoName {
  return USUAL_NAMES[seed % USUAL_NAMES.length]!;
}

/** Returns the number of steps. Most histories are short, and some are long. */
export function stepsOf(random: Random): number {
  const dice = random.below(1000);
  if (dice < 3) return 300;
  if (dice < 35) return 100;
  return 12 + random.below(28);
}

/**
 * Returns two probabilities, each per lifetime of a process: of a crash at a chosen disk operation,
 * and of a fault.
 */
export function perilsOf(go: GoName): { crash: number; fault: number } {
  if (go === 'crashes') return { crash: 0.75, fault: 0 };
  if (go === 'full') return { crash: 0.15, fault: 0 };
  if (go === 'faults') return { crash: 0.15, fault: 0.8 };
  if (go === 'damage' || go === 'memory' || go === 'plain') return { crash: 0.05, fault: 0 };
  return { crash: 0.25, fault: 0.08 };
}
