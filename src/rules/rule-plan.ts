// Prepares a rule for running: puts its conditions in join order, and chooses for each condition
// the index and the registers that it uses.

import type { Steps } from '../schedule/steps.ts';
import type { FactWorld } from './fact-world.ts';
import { type Level, WAY } from './join.ts';
import { isBound, joinOrder, termsOf } from './join-order.ts';
import type { Relation } from './relation.ts';
import type { RowIndex } from './row-index.ts';
import type { CheckedRule, Condition, Term } from './rule.ts';

export interface RulePlan {
  readonly levels: readonly Level[];
  /** The constants are set already; a run sets the variables. */
  readonly registers: Int32Array;
  /** Registers of the head's arguments. */
  readonly head: Int32Array;
  /** Levels of the positive atoms, in the order of the body. */
  readonly premises: Int32Array;
}

/** An index on one column is enough if a value has at most this many rows on average. */
const FEW_ROWS = 8;

/**
 * Plans the application of a rule. `first` is the place of the positive atom that is matched with
 * the delta; -1: none is. `growing` are the predicates that may still get facts.
 */
export function* planRule(
  rule: CheckedRule,
  first: number,
  world: FactWorld,
  growing: ReadonlySet<string>,
): Steps<RulePlan> {
  const { body, head } = rule;
  const registers = new Registers(rule, world);
  const order = joinOrder(body, first, (place) => relationOf(body[place]!, world)!);
  const bound = new Set<string>();
  const levels: Level[] = [];
  for (const place of order) {
    const condition = body[place]!;
    if (condition.kind === 'atom') {
      const skipNew = place < first && growing.has(condition.atom.pred);
      levels.push(yield* atomLevel(condition.atom, { world, registers, bound, growing, skipNew }, place === first));
      for (const term of condition.atom.args) if ('variable' in term) bound.add(term.variable);
    } else levels.push(testLevel(condition, world, registers));
  }
  const atoms = [...body.keys()].filter((place) => body[place]!.kind === 'atom');
  return {
    levels,
    registers: registers.initial,
    head: registers.of(head.args),
    premises: Int32Array.from(atoms, (place) => order.indexOf(place)),
  };
}

interface PlanContext {
  world: FactWorld;
  registers: Registers;
  bound: ReadonlySet<string>;
  growing: ReadonlySet<string>;
  skipNew: boolean;
}

const NONE = new Int32Array(0);

function* atomLevel(
  { pred, args }: { pred: string; args: readonly Term[] },
  { world, registers, bound, growing, skipNew }: PlanContext,
  isDelta: boolean,
): Steps<Level> {
  const { relation, indexes } = world.of(pred);
  const known = [...args.keys()].filter((column) => isBound(args[column]!, bound));
  const shared = { relation, sorted: undefined, chained: undefined, op: '==' as const, skipNew };
  if (known.length === args.length && !isDelta) {
    const keys = registers.of(args);
    return { ...shared, way: WAY.unique, keys, ...bindings(args, [], registers, bound) };
  }
  const asked = isDelta || known.length === 0 ? [] : askedColumns(relation, known, !growing.has(pred));
  // A chain over several columns also contains rows with other values, so all known columns are
  // compared. If the index has one column, only the other known columns are compared.
  const checked = asked.length === 1 ? known.filter((column) => column !== asked[0]) : known;
  const binding = bindings(args, checked, registers, bound);
  if (asked.length === 0) return { ...shared, way: isDelta ? WAY.delta : WAY.scan, keys: NONE, ...binding };
  const index: RowIndex = yield* indexes.get(asked, !growing.has(pred));
  const keys = registers.of(asked.map((column) => args[column]!));
  return index.kind === 'sorted'
    ? { ...shared, way: WAY.sorted, sorted: index, keys, ...binding }
    : { ...shared, way: WAY.chained, chained: index, keys, ...binding };
}

function askedColumns(relation: Relation, known: readonly number[], complete: boolean): readonly number[] {
  if (known.length === 1) return known;
  const best = known.reduce((a, b) => (relation.distinct(b) > relation.distinct(a) ? b : a));
  return complete && relation.count / relation.distinct(best) <= FEW_ROWS ? [best] : known;
}

type Binding = Pick<Level, 'bindColumns' | 'bindRegisters' | 'checkColumns' | 'checkRegisters'>;

/**
 * Returns which columns set registers and which are compared. The first occurrence of a new
 * variable sets its register. Its other occurrences and the columns in `checked` are compared.
 */
function bindings(
  args: readonly Term[],
  checked: readonly number[],
  registers: Registers,
  bound: ReadonlySet<string>,
): Binding {
  const binds: number[] = [];
  const checks = [...checked];
  const seen = new Set<string>();
  for (const [column, term] of args.entries()) {
    if (isBound(term, bound)) continue;
    const { variable } = term as { variable: string };
    if (seen.has(variable)) checks.push(column);
    else binds.push(column);
    seen.add(variable);
  }
  return {
    bindColumns: Int32Array.from(binds),
    bindRegisters: registers.of(binds.map((column) => args[column]!)),
    checkColumns: Int32Array.from(checks),
    checkRegisters: registers.of(checks.map((column) => args[column]!)),
  };
}

function testLevel(condition: Condition, world: FactWorld, registers: Registers): Level {
  const isGuard = condition.kind === 'compare';
  return {
    way: isGuard ? WAY.guard : WAY.absent,
    relation: relationOf(condition, world),
    sorted: undefined,
    chained: undefined,
    keys: registers.of(termsOf(condition)),
    bindColumns: NONE,
    bindRegisters: NONE,
    checkColumns: NONE,
    checkRegisters: NONE,
    op: isGuard ? condition.op : '==',
    skipNew: false,
  };
}

function relationOf(condition: Condition, world: FactWorld): Relation | undefined {
  return condition.kind === 'compare' ? undefined : world.of(condition.atom.pred).relation;
}

/** Assigns a register to every constant and variable of a rule. */
class Registers {
  readonly initial: Int32Array;
  readonly #ofConstant = new Map<unknown, number>();
  readonly #ofVariable = new Map<string, number>();

  constructor({ body, head }: CheckedRule, world: FactWorld) {
    const constants: number[] = [];
    for (const term of [...head.args, ...body.flatMap(termsOf)]) {
      if ('constant' in term) {
        if (this.#ofConstant.has(term.constant)) continue;
        this.#ofConstant.set(term.constant, constants.length);
        constants.push(world.interner.numberOf(term.constant));
      } else this.#ofVariable.set(term.variable, 0);
    }
    let next = constants.length;
    for (const variable of this.#ofVariable.keys()) this.#ofVariable.set(variable, next++);
    this.initial = new Int32Array(next);
    this.initial.set(constants);
  }

  of(terms: readonly Term[]): Int32Array {
    return Int32Array.from(terms, (term) =>
      'constant' in term ? this.#ofConstant.get(term.constant)! : this.#ofVariable.get(term.variable)!,
    );
  }
}
