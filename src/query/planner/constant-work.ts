// Limits the work of planning. Conditions that read no row are evaluated in one step, so their
// texts and lists must not be too long.

import { HedgerowError } from '../../errors.ts';
import type { BoundExpression, Value } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { partsOf } from '../binder/parts.ts';

/** A statement of at most this many characters, without long parameters, is not checked. */
const SHORT_TEXT = 4096;
/**
 * Maximum cost, in characters, of all subexpressions of WHERE that read no row. Evaluating them
 * then takes about 10 ms.
 */
const MOST_LETTERS = 16 * 2 ** 20;
/** Cost of a list item, in characters. Items are expensive because they are put into sets. */
const LETTERS_AN_ITEM = 32;

/** Throws `query_too_large` if conditions that read no row take too much work. */
export function checkConstants(where: readonly BoundExpression[], text: string, parameters: ParameterValues): void {
  if (text.length <= SHORT_TEXT && !hasLong(parameters)) return;
  const work = new ConstantWork(parameters);
  for (const condition of where) work.add(condition);
  if (work.letters > MOST_LETTERS)
    throw new HedgerowError(
      'query_too_large',
      'The conditions of this statement that read no row compare too many long texts or lists; evaluate these conditions before you send the statement.',
    );
}

function hasLong(parameters: ParameterValues): boolean {
  for (const name in parameters) {
    const value = parameters[name];
    if ((typeof value === 'string' || Array.isArray(value)) && value.length > SHORT_TEXT) return true;
  }
  return false;
}

/** Adds up the characters in the largest subexpressions that read no row. */
class ConstantWork {
  letters = 0;
  readonly #parameters: ParameterValues;

  constructor(parameters: ParameterValues) {
    this.#parameters = parameters;
  }

  add(node: BoundExpression): void {
    const letters = this.#lettersOf(node);
    if (letters !== READS_ROWS) this.letters += letters;
  }

  /**
   * Returns the cost of an expression that reads no row. Returns `READS_ROWS` for any other
   * expression, after adding the cost of its constant parts to `letters`.
   */
  #lettersOf(node: BoundExpression): number {
    if (node.kind === 'constant') return lettersOf(node.value);
    if (node.kind === 'parameter') return lettersOf(this.#parameters[node.name] as Value);
    const parts = partsOf(node);
    const letters = parts.map((part) => this.#lettersOf(part));
    if (COMPUTED.has(node.kind) && !letters.includes(READS_ROWS)) return letters.reduce((sum, one) => sum + one, 0);
    // Plain values cost nothing because they are not computed.
    for (const [place, one] of letters.entries())
      if (one !== READS_ROWS && !isPlain(parts[place]!)) this.letters += one;
    return READS_ROWS;
  }
}

const READS_ROWS = -1;
/** Kinds of expressions that read rows only through their parts. */
const COMPUTED: ReadonlySet<BoundExpression['kind']> = new Set([
  'compare',
  'arithmetic',
  'textMatch',
  'negate',
  'not',
  'isNull',
  'size',
  'time',
  'day',
  'date',
  'and',
  'or',
  'list',
  'in',
  'node',
]);

function isPlain({ kind }: BoundExpression): boolean {
  return kind === 'constant' || kind === 'parameter';
}

function lettersOf(value: Value): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? LETTERS_AN_ITEM * value.length : 1;
}
