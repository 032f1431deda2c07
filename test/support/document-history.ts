// Changes documents in a random history, some with an answer to keep, and compares them with a
// model after every restart.

import type { AnswerToKeep, Database } from '../../src/engine/index.ts';
import type { HistoryWorld } from './history-world.ts';

/** Stores that the documents are in. */
export const STORES = ['things', 'others'] as const;

type Value = { token: number; text: string };

interface Change {
  store: string;
  id: string;
  value: Value | null;
}

export class DocumentHistory {
  readonly #world: HistoryWorld;
  /** What happened, in LSN order. */
  #commits: readonly (readonly Change[])[] = [];
  #tokens = 0;
  /** Ids of all answers that were given to the engine; a crash may have lost the last ones. */
  readonly answers: string[] = [];

  constructor(world: HistoryWorld) {
    this.#world = world;
  }

  async step(): Promise<void> {
    const { random, source } = this.#world;
    const changes = Array.from({ length: 1 + random.below(3) }, () => ({
      store: source.pick(STORES),
      id: `d${random.below(5)}`,
      value: random.chance(0.3) ? null : { token: ++this.#tokens, text: source.text().slice(0, 200) },
    }));
    const answer = random.chance(0.4) ? this.#answer() : undefined;
    this.#world.note(`documents x${changes.length}${answer === undefined ? '' : ` and ${answer.id}`}`);
    const before = this.#commits;
    const after = [...before, changes];
    const redo = (): void => {
      this.#commits = after;
    };
    const undo = (): void => {
      this.#commits = before;
    };
    const db = this.#world.db();
    const change = () => db.documents.change(changes, answer && (() => answer));
    const done = await this.#world.define({ redo, undo }, change, changes.length + (answer === undefined ? 0 : 1));
    if (done) this.#world.saw('documents');
  }

  #answer(): AnswerToKeep {
    const { random } = this.#world;
    const id = `key-${++this.#tokens}`;
    this.answers.push(id);
    const body = 'x'.repeat(random.below(random.chance(0.1) ? 3000 : 40));
    return { id, bodyHash: `hash of ${id}`, status: 200, contentType: 'application/json', body, at: 1e12 };
  }

  /** Throws unless the database has exactly the documents of the model. */
  check(database: Database): void {
    const wanted = new Map<string, Map<string, Value>>(STORES.map((store) => [store, new Map()]));
    for (const { store, id, value } of this.#commits.flat()) {
      if (value === null) wanted.get(store)!.delete(id);
      else wanted.get(store)!.set(id, value);
    }
    for (const [store, entries] of wanted) {
      const found = JSON.stringify(database.documents.entries(store));
      if (found !== JSON.stringify([...entries])) throw new Error(`store ${store} holds ${found}`);
    }
  }
}
