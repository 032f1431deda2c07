// The client of Hedgerow: an object for each resource, all of which share one connection.

import { Analytics } from './analytics.ts';
import { type ChangesOptions, readChanges } from './changes.ts';
import { Connection } from './connection.ts';
import { Hyperedges } from './hyperedges.ts';
import { Memory } from './memory.ts';
import { Nodes, NodeTables } from './nodes.ts';
import type { ClientOptions } from './options.ts';
import { Query } from './query.ts';
import { Reasoning } from './reasoning.ts';
import { Backups, Batch, Indexes, Keys, Service, Tables, Wal } from './resources.ts';
import { Rules } from './rules.ts';
import type { Change } from './types.ts';
import { Virtual } from './virtual.ts';

export class HedgerowClient {
  readonly hyperedges: Hyperedges;
  readonly batch: Batch;
  readonly query: Query;
  readonly analytics: Analytics;
  readonly rules: Rules;
  readonly reasoning: Reasoning;
  readonly memory: Memory;
  readonly virtual: Virtual;
  readonly tables: Tables;
  readonly nodeTables: NodeTables;
  readonly nodes: Nodes;
  readonly indexes: Indexes;
  readonly wal: Wal;
  readonly backups: Backups;
  readonly keys: Keys;
  readonly service: Service;
  readonly #connection: Connection;

  /** Creates a client without opening a connection. Throws a TypeError if `url` is not a URL. */
  constructor(options: ClientOptions) {
    this.#connection = new Connection(options);
    this.hyperedges = new Hyperedges(this.#connection);
    this.batch = new Batch(this.#connection);
    this.query = new Query(this.#connection);
    this.analytics = new Analytics(this.#connection);
    this.rules = new Rules(this.#connection);
    this.reasoning = new Reasoning(this.#connection);
    this.memory = new Memory(this.#connection);
    this.virtual = new Virtual(this.#connection);
    this.tables = new Tables(this.#connection);
    this.nodeTables = new NodeTables(this.#connection);
    this.nodes = new Nodes(this.#connection);
    this.indexes = new Indexes(this.#connection);
    this.wal = new Wal(this.#connection);
    this.backups = new Backups(this.#connection);
    this.keys = new Keys(this.#connection);
    this.service = new Service(this.#connection);
  }

  /**
   * Yields committed changes in the order of their LSNs, and by default waits for further ones
   * without end. After a lost connection it goes on after the last change yielded: none is missing,
   * none comes twice. Throws a HedgerowApiError with the code `lsn_gone` (410) if changes after
   * `fromLsn` are no longer kept, or `lsn_ahead` (409) if the server has never reached it, as after
   * a restore: then read all rows again, and follow the changes after their LSN. Leaving the loop
   * ends the request; an aborted `signal` throws its reason.
   */
  changes(options: ChangesOptions = {}): AsyncGenerator<Change, void, undefined> {
    return readChanges(this.#connection, options);
  }

  /**
   * The newest log position in any successful answer to this client; 0 before the first one.
   * Another client can use it as `minLsn`.
   */
  get lastLsn(): number {
    return this.#connection.lastLsn;
  }
}
