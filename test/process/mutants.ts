// Plants faults in the text of a source file, one per mutant. A mutant changes one line so that it
// nearly always still compiles, but does something else.

export interface Mutant {
  file: string;
  /** Line number, from 1. */
  line: number;
  operator: string;
  before: string;
  after: string;
}

interface Operator {
  name: string;
  /** Returns the changed line, or undefined if the operator does not apply to the line. */
  change(line: string): string | undefined;
}

const SWAPS: readonly [from: string, to: string, name: string][] = [
  [' === ', ' !== ', 'negate comparison'],
  [' !== ', ' === ', 'negate comparison'],
  [' <= ', ' < ', 'move bound'],
  [' >= ', ' > ', 'move bound'],
  [' < ', ' <= ', 'move bound'],
  [' > ', ' >= ', 'move bound'],
  [' + 1', '', 'off by one'],
  [' - 1', '', 'off by one'],
  [' && ', ' || ', 'swap operator'],
  [' || ', ' && ', 'swap operator'],
  ['Math.max(', 'Math.min(', 'swap call'],
  ['Math.min(', 'Math.max(', 'swap call'],
  [' = true;', ' = false;', 'swap value'],
  [' = false;', ' = true;', 'swap value'],
  ['await ', '', 'remove await'],
  ['++', '', 'remove step'],
  [' += ', ' -= ', 'swap operator'],
];

const OPERATORS: readonly Operator[] = [
  ...SWAPS.map(([from, to, name]) => ({
    name,
    change: (line: string) => (line.includes(from) ? line.replace(from, to) : undefined),
  })),
  {
    name: 'negate condition',
    change(line) {
      const found = /^(\s*(?:\} else )?(?:if|while) \()(.+)(\) (?:\{|return|throw|break|continue|[\w.#]+).*)$/.exec(
        line,
      );
      return found === null || !isBalanced(found[2]!) ? undefined : `${found[1]}!(${found[2]})${found[3]}`;
    },
  },
  {
    name: 'remove statement',
    change: (line) =>
      /^\s+(await |void |throw )?(new )?(this|[a-zA-Z])[\w.#?!]*(\(.*\)|[\w.#[\]]* [-+]?= .+|\+\+);$/.test(line)
        ? `${/^\s*/.exec(line)![0]};`
        : undefined,
  },
  {
    name: 'return early',
    change: (line) => (/\): (void|Promise<void>) \{$/.test(line) ? `${line} return;` : undefined),
  },
];

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    else if (character === ')' && --depth < 0) return false;
  }
  return depth === 0;
}

/** Matches the lines that get no mutant: comments, imports, declarations and error messages. */
const LEFT_ALONE = /^\s*(\/\/|\*|\/\*|import |export (type|interface)|interface |type |readonly |private )|^\s*[`'"]/;

export function mutantsOf(file: string, text: string): Mutant[] {
  return text.split('\n').flatMap((before, index) => {
    if (LEFT_ALONE.test(before)) return [];
    return OPERATORS.flatMap(({ name, change }) => {
      const after = change(before);
      // An unchanged line, or a change inside a string, is not a fault.
      if (after === undefined || after === before || insideText(before, after)) return [];
      return [{ file, line: index + 1, operator: name, before: before.trim(), after: after.trim() }];
    });
  });
}

function insideText(before: string, after: string): boolean {
  let place = 0;
  while (before[place] === after[place]) place++;
  const left = before.slice(0, place);
  return (left.split("'").length - 1) % 2 === 1 || (left.split('`').length - 1) % 2 === 1;
}

/** Returns the source text with the mutant applied. */
export function withMutant(text: string, { line, after }: Mutant): string {
  const lines = text.split('\n');
  lines[line - 1] = after;
  return lines.join('\n');
}
