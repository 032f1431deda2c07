// Creates and drops the text indexes of a simulation, while writes, compactions and other changes
// of definitions go on.

import type { SimOp } from './sim-ledger.ts';
import { type SimModel, Violation } from './sim-model.ts';
import { SIM_LANGUAGES } from './sim-words.ts';
import type { SimWorld } from './sim-world.ts';
import { keyed, type SimWriters } from './sim-writers.ts';

/** The table, a column or the index may be gone when the index is entered in the catalog. */
const CREATE_REFUSALS = ['table_not_found', 'unknown_column', 'index_exists'];
const DROP_REFUSALS = ['table_not_found', 'index_not_found'];

export class SimTextIndexes {
  readonly #world: SimWorld;
  readonly #writers: SimWriters;
  #op: SimOp | undefined;

  constructor(world: SimWorld, writers: SimWriters) {
    this.#world = world;
    this.#writers = writers;
  }

  /** Whether an index is being created or dropped. */
  get isChanging(): boolean {
    return this.#op !== undefined && this.#world.ledger.unsettled.has(this.#op);
  }

  /** Creates or drops an index. The engine does not tell its LSN, so there is one at a time. */
  index(): void {
    const world = this.#world;
    const name = world.anyTable();
    if (name === undefined || world.refuses || this.isChanging) return;
    if (world.ledger.model.table(name).text === undefined || world.random.chance(0.1)) this.#create(name);
    else if (world.random.chance(0.7)) this.#drop(name);
  }

  #create(name: string): void {
    const world = this.#world;
    const { random, source, ledger } = world;
    const texts = ledger.model.table(name).allColumns.filter(({ type }) => type === 'TEXT');
    const chosen = texts.filter(() => random.chance(0.5));
    if (chosen.length === 0) chosen.push(source.pick(texts));
    if (random.chance(0.3)) chosen.reverse();
    const columns = chosen.map(({ key }) => key);
    const language = source.pick(SIM_LANGUAGES);
    const names = chosen.map((column) => column.name);
    const answer = this.#writers.answer();
    const apply = (model: SimModel, lsn: number): void => {
      const table = model.table(name);
      if (table.text !== undefined) throw new Violation('wrong-answer', `${name} has got a second text index`);
      table.text = { columns, language, lsn };
    };
    const input = { columns: names, language };
    const what = `create text index ${name} (${names}) ${language}${keyed(answer)}`;
    const create = () => world.db.textIndexes.create(name, input, this.#writers.attach(answer));
    this.#submit({ what, answer, apply }, create, CREATE_REFUSALS);
    world.saw('create text index');
  }

  #drop(name: string): void {
    const answer = this.#writers.answer();
    const apply = (model: SimModel): void => {
      const table = model.table(name);
      if (table.text === undefined) throw new Violation('wrong-answer', `${name} has no text index to drop`);
      table.text = undefined;
    };
    const what = `drop text index ${name}${keyed(answer)}`;
    const drop = () => this.#world.db.textIndexes.drop(name, this.#writers.attach(answer));
    this.#submit({ what, answer, apply }, drop, DROP_REFUSALS);
    this.#world.saw('drop text index');
  }

  #submit(
    { what, answer, apply }: Pick<SimOp, 'what' | 'answer' | 'apply'>,
    call: () => Promise<unknown>,
    refusals: string[],
  ): void {
    const world = this.#world;
    // The op names no table: the table may be altered and dropped meanwhile.
    const op: SimOp = { what, operations: 1 + (answer ? 1 : 0), answer, state: 'open', tables: new Set(), apply };
    this.#op = op;
    world.note(what);
    world.submit(op, call, () => 'unknown', refusals);
  }
}
