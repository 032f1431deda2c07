// Generates statements that try to exhaust memory or time: every operator and function, nested,
// with large parameters, over joins, groups, orders and writes.

import type { Random } from '../support/random.ts';

export interface HostileStatement {
  readonly text: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the statement queries a virtual graph rather than tables. */
  readonly isVirtual?: true;
}

/** Tables of the service, named after their sizes: see `statement-run.ts`. */
const TABLES = ['few', 'few', 'some', 'some', 'some', 'many', 'long'];
const LENGTHS = [0, 1, 10, 100, 1000, 5000, 20_000, 30_000, 60_000, 65_530, 100_000, 131_072, 140_000];
const ITEMS = [0, 1, 2, 10, 100, 1000, 10_000, 60_000, 100_000];
/**
 * Size classes. `lengths` and `items` are the numbers of entries of `LENGTHS` and `ITEMS` above
 * that may be used, counted from the smallest. `most` is the maximum number of repetitions of a
 * piece. `rooms` are the possible numbers of operators.
 */
const SIZES = [
  { lengths: 9, items: 5, most: 20, rooms: [3, 10, 30] },
  { lengths: 9, items: 5, most: 20, rooms: [3, 10, 30] },
  { lengths: 13, items: 5, most: 60, rooms: [10, 30, 100] },
  { lengths: 13, items: 6, most: 200, rooms: [30, 100, 400] },
] as const;
const LARGE = { lengths: 13, items: 9, most: 1900, rooms: [100, 400, 2000] } as const;

export function hostileStatement(random: Random): HostileStatement {
  return new Maker(random).make();
}

type Kind = 'integer' | 'real' | 'text' | 'boolean';

class Maker {
  readonly #random: Random;
  readonly #parameters: Record<string, unknown> = {};
  #aliases: string[] = [];
  readonly #size: (typeof SIZES)[number] | typeof LARGE;
  /** Number of operators that may still be generated. */
  #room: number;

  constructor(random: Random) {
    this.#random = random;
    this.#size = random.below(25) === 0 ? LARGE : this.#pick(SIZES);
    this.#room = this.#pick<number>(this.#size.rooms);
  }

  make(): HostileStatement {
    const text = this.#statement();
    return text.startsWith('V:')
      ? { text: text.slice(2), parameters: {}, isVirtual: true }
      : { text, parameters: this.#parameters };
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#random.below(from.length)]!;
  }

  #times<T>(count: number, make: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => make(index));
  }

  /** Returns a count that is mostly small, and sometimes up to `most`. */
  #count(most: number): number {
    const share = this.#random.below(12);
    if (share < 8) return 1 + this.#random.below(3);
    const allowed = Math.min(most, this.#size.most);
    return 1 + this.#random.below(share < 11 ? Math.ceil(allowed / 10) : allowed);
  }

  #statement(): string {
    switch (this.#random.below(24)) {
      case 0:
        return this.#insert();
      case 1:
        return `UPDATE ${this.#bare('some')} SET ${this.#pick(['place', 'note'])} = ${this.#expression('text', 3)} WHERE ${this.#expression('boolean', 2)}`;
      case 2:
        return `DELETE FROM ${this.#bare('some')} WHERE ${this.#expression('boolean', 3)} AND id < 0`;
      case 3:
        return `${this.#pick(['EXPLAIN', 'ANALYZE'])} ${this.#match()}`;
      case 4:
        return this.#garbage();
      case 5:
        return this.#virtual();
      default:
        return this.#match();
    }
  }

  /** Returns the name of a table, and makes the rest of the statement use that table's columns. */
  #bare(table: string): string {
    this.#aliases = [table];
    return table;
  }

  #match(): string {
    const patterns = this.#pick([1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 8, 16]);
    this.#aliases = this.#times(patterns, (index) => `a${index}`);
    const list = this.#aliases.map((alias) => `(${alias}:${this.#pick(TABLES)})${this.#members()}`);
    const where = this.#where();
    const items = this.#items();
    return `MATCH ${list.join(', ')}${where}${items}${this.#window()}`;
  }

  #members(): string {
    return this.#random.below(12) === 0 ? ` MEMBERS ${this.#list('integer')}` : '';
  }

  #where(): string {
    const conditions: string[] = [];
    for (let index = 1; index < this.#aliases.length; index++)
      if (this.#random.below(5) > 0) conditions.push(this.#link(this.#aliases[index - 1]!, this.#aliases[index]!));
    const count = this.#random.below(3) === 0 ? this.#count(400) : this.#random.below(3);
    const between = this.#pick([' AND ', ' OR ']);
    const own = this.#times(count, () => this.#expression('boolean', 3)).join(between);
    if (own !== '') conditions.push(`(${own})`);
    return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  }

  #link(a: string, b: string): string {
    return this.#pick([
      `overlaps(${a}, ${b}, ${this.#pick([0, 5, 100, 100_000])})`,
      `follows(${a}, ${b}, ${this.#pick([1, 30, 100_000])})`,
      `shared(${a}, ${b}) >= ${this.#pick([1, 1, 2])}`,
      `intersects(${a}, ${b})`,
      `${a}.n = ${b}.n`,
      `${a}.place = ${b}.place`,
      `${a}.id = ${b}.id`,
      `${a}.place + ${this.#parameter('text')} = ${b}.place + ${this.#parameter('text')}`,
      `bucket(${a}) = bucket(${b})`,
      `${a}.members = ${b}.members`,
      `${a}.n + ${b}.n > ${a}.id * 2`,
    ]);
  }

  #items(): string {
    if (this.#random.below(15) === 0) return ' RETURN *';
    const distinct = this.#random.below(4) === 0 ? 'DISTINCT ' : '';
    const isGrouped = this.#random.below(3) === 0;
    const count = this.#count(1900);
    const items = this.#times(count, (index) => {
      const isAggregate = isGrouped && (index === 0 || this.#random.below(2) === 0);
      return `${isAggregate ? this.#aggregate() : this.#item()} AS i${index}`;
    });
    return ` RETURN ${distinct}${items.join(', ')}${this.#order(count, isGrouped || distinct !== '')}`;
  }

  #item(): string {
    const alias = this.#pick(this.#aliases);
    switch (this.#random.below(10)) {
      case 0:
        return alias;
      case 1:
        return `${alias}.members`;
      case 2:
        return `[${this.#times(this.#count(1000), () => this.#expression('integer', 1)).join(', ')}]`;
      case 3:
        return this.#list(this.#pick(['integer', 'text']));
      default:
        return this.#expression(this.#kind(), 3);
    }
  }

  #aggregate(): string {
    const distinct = this.#random.below(3) === 0 ? 'DISTINCT ' : '';
    const alias = this.#pick(this.#aliases);
    switch (this.#random.below(9)) {
      case 0:
        return 'count(*)';
      case 1:
        return `collect(${distinct}${this.#pick([alias, `${alias}.members`, `[${alias}.id, ${alias}.n]`])})`;
      case 2:
        return `collect(${distinct}${this.#expression('text', 2)})`;
      case 3:
        return `size(collect(${distinct}${this.#expression(this.#kind(), 2)}))`;
      case 4:
        return `count(${distinct}${this.#expression('text', 3)})`;
      case 5:
        return `${this.#pick(['min', 'max'])}(${this.#expression('text', 2)})`;
      case 6:
        return `collect(${alias}.n) = collect(${alias}.id)`;
      default:
        return `${this.#pick(['sum', 'avg', 'min', 'max'])}(${distinct}${this.#expression('integer', 2)})`;
    }
  }

  #order(items: number, returnedOnly: boolean): string {
    if (this.#random.below(2) === 0) return '';
    const orders = this.#times(this.#count(100), () => {
      const what = returnedOnly ? `i${this.#random.below(items)}` : this.#expression(this.#kind(), 2);
      return what + this.#pick(['', ' DESC']);
    });
    return ` ORDER BY ${orders.join(', ')}`;
  }

  #window(): string {
    const skip = this.#random.below(6) === 0 ? ` SKIP ${this.#random.below(5000)}` : '';
    const limit = this.#random.below(2) === 0 ? ` LIMIT ${this.#pick([0, 1, 20, 1000, 4000, 100_000])}` : '';
    return skip + limit;
  }

  #insert(): string {
    const rows = this.#count(this.#pick([100, 3000]));
    const long = this.#random.below(2) === 0 ? this.#expression('text', 2) : "'x'";
    this.#aliases = ['few'];
    const values = this.#times(rows, (row) => `(${row}, [${row % 9}], ${long})`);
    return `INSERT INTO thrown (event_ts, members, place) VALUES ${values.join(', ')}`;
  }

  /** Returns long repetitions of one token, or texts that end at random places. */
  #garbage(): string {
    const count = this.#size === LARGE ? this.#pick([1000, 100_000, 300_000]) : this.#pick([10, 1000]);
    const piece = this.#pick([
      '(',
      '[',
      '-',
      'NOT ',
      '+',
      'a ',
      "'",
      '$p ',
      ',',
      '{',
      '[[1],',
      '1,',
      'e.n=1 OR ',
      '/*',
      '\\',
    ]);
    const head = this.#pick([
      '',
      'MATCH (e:few) WHERE ',
      'MATCH (e:few) RETURN ',
      'INSERT INTO few (event_ts) VALUES ',
    ]);
    return (head + piece.repeat(count)).slice(0, 1_000_000);
  }

  #virtual(): string {
    const conditions = this.#times(this.#count(200), () =>
      this.#pick([
        `origin.id IN [${this.#times(this.#count(20_000), (index) => index).join(', ')}]`,
        `driver.id = '${'x'.repeat(this.#pick([1, 1000, 60_000]))}'`,
        `a.event_ts BETWEEN ${this.#random.below(100)} AND ${this.#random.below(10_000)}`,
        `size(a) >= ${this.#random.below(4)}`,
        `a.note <> '${'y'.repeat(this.#pick([1, 100, 30_000]))}'`,
      ]),
    );
    const limit = this.#random.below(3) > 0 ? ` LIMIT ${this.#pick([1, 100, 5000])}` : '';
    return `V:MATCH (a:Trip){origin:Place, driver:Driver} WHERE ${conditions.join(' AND ')} RETURN a${limit}`;
  }

  #kind(): Kind {
    return this.#pick(['integer', 'text', 'text', 'boolean', 'real'] as const);
  }

  #leaf(kind: Kind): string {
    if (this.#random.below(4) === 0) return this.#parameter(kind);
    const alias = this.#aliases.length === 0 ? 'few' : this.#pick(this.#aliases);
    switch (kind) {
      case 'integer':
        return this.#pick([
          `${alias}.id`,
          `${alias}.n`,
          `${alias}.event_ts`,
          `size(${alias}.members)`,
          `bucket(${alias})`,
          '7',
          '9007199254740991',
        ]);
      case 'real':
        return this.#pick([`${alias}.w`, '0.5', '1e308']);
      case 'text':
        return this.#pick([`${alias}.place`, `${alias}.place`, `${alias}.note`, "'a'", "'ab''c'"]);
      case 'boolean':
        return this.#pick([`${alias}.ok`, 'true', 'null']);
    }
  }

  #parameter(kind: Kind): string {
    const known = Object.keys(this.#parameters).filter((name) => name.startsWith(kind));
    if (known.length > 0 && this.#random.below(4) > 0) return `$${this.#pick(known)}`;
    const name = `${kind}${known.length}`;
    this.#parameters[name] = this.#value(kind);
    return `$${name}`;
  }

  #value(kind: Kind): unknown {
    const lengths = LENGTHS.slice(0, this.#size.lengths);
    switch (kind) {
      case 'integer':
        return this.#random.below(1000);
      case 'real':
        return this.#random.below(1000) + 0.5;
      case 'boolean':
        return this.#random.below(2) === 0;
      case 'text':
        return this.#pick(['x', 'é', '😀', 'xy', 'p1']).repeat(this.#pick(lengths)).slice(0, this.#pick(lengths));
    }
  }

  #list(kind: 'integer' | 'text'): string {
    const name = `list${Object.keys(this.#parameters).length}`;
    const count = this.#pick(ITEMS.slice(0, this.#size.items));
    const isWritten = this.#random.below(2) === 0;
    const items = this.#times(count, (index) => (kind === 'integer' ? index * this.#pick([1, 1, 7]) : `p${index}`));
    if (isWritten) return `[${items.map((item) => (typeof item === 'string' ? `'${item}'` : item)).join(', ')}]`;
    this.#parameters[name] = items;
    return `$${name}`;
  }

  #expression(kind: Kind, depth: number): string {
    this.#room -= 1;
    if (depth <= 0 || this.#room <= 0 || this.#random.below(4) === 0) return this.#leaf(kind);
    const inner = (of: Kind) => this.#expression(of, depth - 1);
    switch (kind) {
      case 'integer':
      case 'real':
        return this.#random.below(6) === 0
          ? `-(${inner(kind)})`
          : `(${inner(kind)} ${this.#pick(['+', '-', '*', '/', '%'])} ${inner(kind)})`;
      case 'text':
        return `(${this.#times(1 + this.#count(190), () => inner('text')).join(' + ')})`;
      case 'boolean':
        return this.#condition(inner);
    }
  }

  #condition(inner: (of: Kind) => string): string {
    const alias = this.#aliases.length === 0 ? 'few' : this.#pick(this.#aliases);
    const kind = this.#pick(['integer', 'text', 'text'] as const);
    switch (this.#random.below(12)) {
      case 0:
        return `(${this.#times(this.#count(1900), () => inner('boolean')).join(this.#pick([' AND ', ' OR ']))})`;
      case 1:
        return `NOT ${inner('boolean')}`;
      case 2:
        return `${inner(kind)} IS NULL`;
      case 3:
        return `${inner(kind)} IN ${this.#list(kind)}`;
      case 4:
        return `${inner(kind)} IN [${this.#times(this.#count(1900), () => inner(kind)).join(', ')}]`;
      case 5:
        return `${inner(kind)} BETWEEN ${inner(kind)} AND ${inner(kind)}`;
      case 6:
        return `${alias}.members = ${this.#list('integer')}`;
      case 7:
        return `${inner('integer')} IN ${alias}.members`;
      case 8:
      case 9:
        return `${inner('text')} ${this.#pick(['CONTAINS', 'STARTS WITH', 'ENDS WITH'])} ${inner('text')}`;
      default:
        return `${inner(kind)} ${this.#pick(['=', '<>', '<', '<=', '>', '>='])} ${inner(kind)}`;
    }
  }
}
