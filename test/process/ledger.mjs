// Keeps the expected state of a database that several lanes write to: what was acknowledged, what
// is open (begun but not acknowledged), and which operation may be next.
//
// Every operation has a number and touches only items that no open operation touches. So after a
// crash each open operation must be either fully applied or not applied at all, independently of
// the others. The judge (the process that checks the database) finds out which of the two holds
// for each, then compares everything. The content of a row follows from its tag (operation x 1,000
// + place), so that the writing process and the judge need to exchange only numbers.

export const PRIMARY = 'hyperedges';
export const ROWS_PER_OPERATION = 1000;
/** Epoch seconds at which the writer's clock is fixed. */
export const NOW_SECONDS = 2_000_000;
/**
 * Time to live of a TTL compaction, in seconds. It removes all rows of `old` parts, and no others.
 */
export const TTL_SECONDS = 1_500_000;
const MOST_TABLES = 6;
const LONG_TEXT = 'long '.repeat(120);

export function rowOf(tag, old) {
  return {
    event_ts: old ? tag % 1000 : 1_000_000 + ((tag * 37) % 100_000),
    members: [tag % 50, 1000 + (tag % 997), 100_000 + tag],
    weight: tag,
    formation: formationOf(tag),
  };
}

function formationOf(tag) {
  if (tag % 97 === 0) return `${LONG_TEXT}${tag}`;
  return tag % 3 === 0 ? `row ${tag}` : null;
}

export function edgeOf(tag, old, formation = formationOf(tag)) {
  const { event_ts, members, weight } = rowOf(tag, old);
  return { event_ts, members, properties: { weight, formation } };
}

/** Returns the key under which the answer to an operation is stored. */
export function answerKey(number) {
  return `key-${number}`;
}

export function changedBy(number) {
  return `changed by ${number}`;
}

export class Ledger {
  /** Number of the next operation. */
  next = 1;
  tables = new Map();
  documents = new Map();
  /** Stored answers: operation number -> id of the operation's first row, or null if unknown. */
  answers = new Map();
  /** Operations begun, but neither acknowledged nor judged. */
  open = new Map();

  constructor(state) {
    this.tables.set(PRIMARY, newTable());
    if (state === undefined) return;
    this.next = state.next;
    this.tables = new Map(state.tables.map(([name, table]) => [name, { ...table, groups: new Map(table.groups.map(readGroup)) }]));
    this.documents = new Map(state.documents);
    this.answers = new Map(state.answers);
    this.open = new Map(state.open);
  }

  toJSON() {
    const tables = [...this.tables].map(([name, table]) => [name, { ...table, groups: [...table.groups].map(writeGroup) }]);
    return { next: this.next, tables, documents: [...this.documents], answers: [...this.answers], open: [...this.open] };
  }

  begin(operation) {
    this.open.set(operation.n, operation);
    this.next = Math.max(this.next, operation.n + 1);
  }

  /**
   * Records that the operation is applied. `firstIds`: the id of the first row of each part, if it
   * is known.
   */
  apply(n, firstIds = []) {
    const operation = this.open.get(n);
    this.open.delete(n);
    EFFECTS[operation.kind]?.(this, operation, firstIds);
  }

  /** Records that the operation certainly did nothing. */
  forget(n) {
    this.open.delete(n);
  }

  /** Returns the live rows of a table: tag -> {old, formation, id or undefined}. */
  rowsOf(name) {
    const rows = new Map();
    for (const [n, group] of this.tables.get(name).groups) {
      for (let index = group.start; index < group.start + group.rows; index++) {
        if (group.dead.has(index)) continue;
        const tag = n * ROWS_PER_OPERATION + index;
        const changed = group.changed.get(index);
        const formation = changed === undefined ? formationOf(tag) : changedBy(changed);
        rows.set(tag, { old: group.old, formation, id: group.firstId === undefined ? undefined : group.firstId + index - group.start });
      }
    }
    return rows;
  }

  /**
   * Draws the next operation. `kinds` maps the names of the possible kinds to their weights.
   * Returns undefined if the operation drawn is not possible now.
   */
  plan(random, kinds) {
    const kind = draw(random, kinds);
    const planned = PLANS[kind](this, random);
    if (planned === undefined) return undefined;
    const operation = { n: this.next, kind, ...planned };
    return this.#isFree(operation) ? operation : undefined;
  }

  #isFree(operation) {
    const wanted = touchedBy(operation);
    for (const other of this.open.values()) {
      const taken = touchedBy(other);
      if (wanted.alone.some((name) => taken.tables.includes(name) || taken.alone.includes(name))) return false;
      if (taken.alone.some((name) => wanted.tables.includes(name))) return false;
      if (wanted.items.some((item) => taken.items.includes(item))) return false;
    }
    return true;
  }
}

function newTable() {
  return { columns: [], index: false, threshold: null, groups: new Map() };
}

function readGroup([n, group]) {
  return [n, { ...group, dead: new Set(group.dead), changed: new Map(group.changed) }];
}

function writeGroup([n, group]) {
  return [n, { ...group, dead: [...group.dead], changed: [...group.changed] }];
}

function draw(random, kinds) {
  const entries = Object.entries(kinds);
  let place = random.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
  for (const [kind, weight] of entries) {
    if (place < weight) return kind;
    place -= weight;
  }
  throw new Error('no kind was drawn');
}

function pick(random, list) {
  return list.length === 0 ? undefined : list[random.below(list.length)];
}

function anyTable(ledger, random) {
  return random.below(2) === 0 ? PRIMARY : pick(random, [...ledger.tables.keys()]);
}

function anyRow(ledger, random, table) {
  const [n, group] = pick(random, [...ledger.tables.get(table).groups].slice(-200)) ?? [];
  if (group === undefined) return undefined;
  const index = group.start + random.below(group.rows);
  return group.dead.has(index) ? undefined : { table, of: n, index, old: group.old, tag: n * ROWS_PER_OPERATION + index };
}

const PLANS = {
  insert(ledger, random) {
    const bulk = random.below(2) === 0;
    const rows = bulk ? 1 + random.below(random.below(8) === 0 ? 900 : 60) : 1;
    return { bulk, keyed: random.below(4) === 0, parts: [{ table: anyTable(ledger, random), start: 0, rows, old: random.below(3) === 0 }] };
  },
  delete(ledger, random) {
    return anyRow(ledger, random, anyTable(ledger, random));
  },
  transaction(ledger, random) {
    const tables = new Set([anyTable(ledger, random), anyTable(ledger, random)]);
    let start = 0;
    const parts = [...tables].map((table) => {
      const part = { table, start, rows: 1 + random.below(20), old: random.below(3) === 0 };
      start += part.rows;
      return part;
    });
    const deletes = [anyRow(ledger, random, parts[0].table)].filter(Boolean);
    const updates = [anyRow(ledger, random, parts[0].table)].filter((row) => row && row.tag !== deletes[0]?.tag);
    return { parts, deletes, updates, keyed: random.below(4) === 0 };
  },
  createTable(ledger) {
    return ledger.tables.size >= MOST_TABLES ? undefined : { table: `t${ledger.next}` };
  },
  dropTable(ledger, random) {
    const table = anyTable(ledger, random);
    return table === PRIMARY ? undefined : { table };
  },
  addColumn(ledger, random) {
    const table = anyTable(ledger, random);
    return ledger.tables.get(table).columns.length >= 4 ? undefined : { table, column: `c${ledger.next}` };
  },
  dropColumn(ledger, random) {
    const table = anyTable(ledger, random);
    const column = pick(random, ledger.tables.get(table).columns);
    return column === undefined ? undefined : { table, column: column.name };
  },
  putDocument(ledger) {
    return { document: `d${ledger.next}` };
  },
  removeDocument(ledger, random) {
    const document = pick(random, [...ledger.documents.keys()]);
    return document === undefined ? undefined : { document };
  },
  createIndex(ledger, random) {
    const table = anyTable(ledger, random);
    return ledger.tables.get(table).index ? undefined : { table };
  },
  dropIndex(ledger, random) {
    const table = anyTable(ledger, random);
    return ledger.tables.get(table).index ? { table } : undefined;
  },
  threshold(ledger, random) {
    return { table: anyTable(ledger, random), threshold: 100 + ledger.next };
  },
  ttl(ledger, random) {
    return { table: anyTable(ledger, random) };
  },
  compact(ledger, random) {
    return random.below(2) === 0 ? {} : { table: anyTable(ledger, random) };
  },
  backup() {
    return {};
  },
};

const ALONE = new Set(['createTable', 'dropTable', 'addColumn', 'dropColumn', 'createIndex', 'dropIndex', 'threshold', 'ttl']);

/**
 * Returns what an operation touches. `alone`: tables that no other open operation may use.
 * `tables`: tables that it shares with others. `items`: rows and documents.
 */
function touchedBy(operation) {
  const touched = { alone: [], tables: [], items: [] };
  if (operation.kind === 'compact' || operation.kind === 'backup') {
    if (operation.table !== undefined) touched.tables.push(operation.table);
    return touched;
  }
  if (operation.document !== undefined) touched.items.push(operation.document);
  if (operation.table !== undefined) (ALONE.has(operation.kind) ? touched.alone : touched.tables).push(operation.table);
  if (operation.tag !== undefined) touched.items.push(operation.tag);
  for (const part of operation.parts ?? []) touched.tables.push(part.table);
  for (const row of [...(operation.deletes ?? []), ...(operation.updates ?? [])]) {
    touched.tables.push(row.table);
    touched.items.push(row.tag);
  }
  return touched;
}

function addGroups(ledger, operation, firstIds) {
  for (const [place, part] of operation.parts.entries()) {
    const { table, start, rows, old } = part;
    const group = { start, rows, old, firstId: firstIds[place], dead: new Set(), changed: new Map() };
    ledger.tables.get(table).groups.set(operation.n, group);
  }
  if (operation.keyed) ledger.answers.set(operation.n, firstIds[0] ?? null);
}

function kill(ledger, { table, of, index }) {
  const { groups } = ledger.tables.get(table);
  const group = groups.get(of);
  group.dead.add(index);
  if (group.dead.size === group.rows) groups.delete(of);
}

const EFFECTS = {
  insert: addGroups,
  transaction(ledger, operation, firstIds) {
    addGroups(ledger, operation, firstIds);
    for (const row of operation.deletes) kill(ledger, row);
    for (const { table, of, index } of operation.updates) ledger.tables.get(table).groups.get(of).changed.set(index, operation.n);
  },
  delete: kill,
  createTable(ledger, { table }) {
    ledger.tables.set(table, newTable());
  },
  dropTable(ledger, { table }) {
    ledger.tables.delete(table);
  },
  addColumn(ledger, { n, table, column }) {
    ledger.tables.get(table).columns.push({ name: column, value: n });
  },
  dropColumn(ledger, { table, column }) {
    const found = ledger.tables.get(table);
    found.columns = found.columns.filter(({ name }) => name !== column);
  },
  putDocument(ledger, { n, document }) {
    ledger.documents.set(document, n);
  },
  removeDocument(ledger, { document }) {
    ledger.documents.delete(document);
  },
  createIndex(ledger, { table }) {
    ledger.tables.get(table).index = true;
  },
  dropIndex(ledger, { table }) {
    ledger.tables.get(table).index = false;
  },
  threshold(ledger, { table, threshold }) {
    ledger.tables.get(table).threshold = threshold;
  },
  ttl(ledger, { table }) {
    const { groups } = ledger.tables.get(table);
    for (const [n, group] of groups) if (group.old) groups.delete(n);
  },
};
