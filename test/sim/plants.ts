// Faults to plant in the engine, to show that the simulation finds them. Each is a small change to
// one source file.

import type { GoName } from './sim-goes.ts';

/** An edit at one place. */
export interface PlantedEdit {
  /** Path of the file below src. */
  file: string;
  /** The text to replace. It must occur exactly once in the file. */
  search: string;
  replace: string;
}

export interface Plant extends PlantedEdit {
  name: string;
  /** The kind of histories that finds it; by default the usual ones. */
  go?: GoName;
  /** Further edits. If another safeguard covers the same fault, both are removed together. */
  also?: readonly PlantedEdit[];
}

const NO_WATERMARK: PlantedEdit = {
  file: 'storage/log.ts',
  search: '    this.#mark.writeWatermark(lsn);\n',
  replace: '',
};

export const PLANTS: readonly Plant[] = [
  {
    name: 'the log is not synced before it answers',
    file: 'storage/whole-file.ts',
    search: 'isDurable ? handle.writeDurably(part, at) : handle.write(part, at)',
    replace: 'handle.write(part, at)',
  },
  {
    name: 'a new log file is used before its name is durable',
    file: 'storage/log-file.ts',
    search: '  await fs.syncDir(dir);\n  const handle = fs.open(path',
    replace: '  const handle = fs.open(path',
  },
  {
    name: 'a new log file is used before its header is durable',
    file: 'storage/log-file.ts',
    search: '    await spare.handle.sync();\n',
    replace: '',
  },
  {
    name: 'a segment is not synced',
    file: 'engine/compaction/merge-files.ts',
    search: 'const sync = handle.sync().finally(() => handle.close());',
    replace: 'const sync = Promise.resolve().finally(() => handle.close());',
  },
  {
    name: 'the directory of segments is not synced',
    file: 'engine/compaction/merge-files.ts',
    search: 'Promise.all(files).then(() => this.#fs.syncDir(dir))',
    replace: 'Promise.all(files).then(() => undefined)',
  },
  {
    name: 'the manifest is renamed before its bytes are durable',
    file: 'storage/atomic-file.ts',
    search: '    await handle.sync();\n',
    replace: '',
  },
  {
    name: 'the name of the manifest is not synced',
    file: 'storage/atomic-file.ts',
    search: '  await fs.syncDir(directoryOf(path));\n',
    replace: '',
  },
  {
    name: 'stored answers are not synced before the manifest lists them',
    file: 'storage/replay-file.ts',
    search: '    await handle.sync();\n',
    replace: '',
  },
  {
    name: 'appliedLsn is one too high',
    file: 'engine/compaction/compact-table.ts',
    search: 'segments: entries, appliedLsn: frozen.lsn, droppedTs',
    replace: 'segments: entries, appliedLsn: frozen.lsn + 1, droppedTs',
  },
  {
    name: 'the segments of a table are in the wrong order',
    file: 'engine/compaction/compact-table.ts',
    search: 'checkOrder(segments[index - 1], segment);\n',
    replace: 'checkOrder(segments[index - 1], segment);\n  segments.reverse();\n',
  },
  {
    name: 'appliedLsn is one too low',
    file: 'engine/compaction/compact-table.ts',
    search: 'segments: entries, appliedLsn: frozen.lsn, droppedTs',
    replace: 'segments: entries, appliedLsn: frozen.lsn - 1, droppedTs',
  },
  {
    name: 'the log is truncated one file too early',
    file: 'storage/closed-files.ts',
    search: 'return count;\n  }\n\n  #countHistory',
    replace: 'return Math.min(count + 1, this.#files.length);\n  }\n\n  #countHistory',
  },
  {
    name: 'a compaction forgets rows that died meanwhile',
    file: 'engine/compaction/compact-table.ts',
    search: '  markLate(table, frozen);\n',
    replace: '  void markLate;\n',
  },
  {
    name: 'an operation is published before it is durable',
    file: 'storage/log.ts',
    search: '      await this.#write(group);\n',
    replace: '      await this.#write(group);\n      if (group.frames > 0) this.#options.onDurable(group.lastLsn);\n',
  },
  {
    name: 'a short write is ignored',
    file: 'storage/whole-file.ts',
    search: 'if (written !== part.length) {',
    replace: 'if (written < 0) {',
  },
  {
    name: 'the checksum of a frame is not checked',
    file: 'storage/frame.ts',
    search: 'return sum === region.view.getUint32(offset + FRAME_CRC_AT, true) ? header : null;',
    replace: 'return sum < 0 ? null : header;',
  },
  {
    name: 'the checksum of the manifest is not checked',
    file: 'storage/manifest.ts',
    search: 'if (sum !== header[2])',
    replace: 'if (sum === "")',
  },
  {
    name: 'the checksums of a segment are not checked',
    file: 'core/segment-load.ts',
    search: '    if (status < 0) throw corruptStatus(core, status, file);\n    const facts',
    replace: '    const facts',
  },
  {
    name: 'an intact older segment is accepted instead of the one that was written',
    file: 'core/segment-facts.ts',
    search: 'if (checksum === undefined || facts.checksum === checksum) return;',
    replace: 'if (checksum !== facts.table + 2 ** 33) return;',
  },
  {
    name: 'a key is evicted early',
    file: 'engine/idempotency/idempotency-store.ts',
    search: 'if (this.#byId.size <= entries && ',
    replace: 'if (this.#byId.size <= entries / 2 && ',
  },
  {
    name: 'a key is removed with its body',
    file: 'engine/idempotency/idempotency-store.ts',
    search: '    kept.body = null;\n',
    replace:
      '    kept.body = null;\n    if (kept.isAlive && this.#byId.delete(kept.id)) {\n      this.#smallBytes -= smallBytes(kept);\n      kept.isAlive = false;\n      this.#dead++;\n    }\n',
  },
  {
    name: 'the first of the new answers is not written to its file',
    file: 'engine/idempotency/idempotency-store.ts',
    search: 'this.#queue.slice(this.#placeAfter(this.#writtenLsn), this.#placeAfter(lsn))',
    replace: 'this.#queue.slice(this.#placeAfter(this.#writtenLsn) + 1, this.#placeAfter(lsn))',
  },
  {
    name: 'an answer is kept in memory and not logged with its write',
    file: 'engine/commit/committer.ts',
    search: 'const firstLsn = this.#log!.append(total, all, led?.seconds);',
    replace: 'const firstLsn = this.#log!.append(total, operations > 0 ? parts : all, led?.seconds);',
  },
  {
    name: 'ids are assigned again after a restart',
    file: 'engine/recovery/recovery.ts',
    search: '  table.change({ nextId: Math.max(table.nextId, greatestId(run.bytes) + 1) });\n',
    replace: '  void greatestId;\n',
  },
  {
    name: 'a removal is visible before it is durable',
    file: 'engine/write/edge-writes.ts',
    search: 'if (killRow(table, place, lsn)) table',
    replace: 'if (killRow(table, place, table.context.committer.visibleLsn)) table',
  },
  {
    name: 'a change of the catalog is applied before it is durable',
    file: 'engine/catalog/ddl.ts',
    search: '      lsn = firstLsn;\n    };\n    const visible = () => {\n',
    replace: '      lsn = firstLsn;\n',
  },
  {
    name: 'the files of a dropped table are removed before the drop is logged',
    file: 'engine/catalog/ddl.ts',
    search: "        await this.change([{ op: 'drop_table', id: table.id, ...nextNumber }]",
    replace:
      "        table.dropped = true;\n        await forget(table);\n        await this.change([{ op: 'drop_table', id: table.id, ...nextNumber }]",
  },
  {
    name: 'a conflict with another commit is not detected',
    file: 'engine/transaction/transaction-commit.ts',
    search: 'if (isAlive(place)) return place;',
    replace: 'if (isAlive(place) || table.id > 0) return place;',
  },
  {
    name: 'a conflict is not detected if a compaction ran meanwhile',
    file: 'engine/transaction/transaction-commit.ts',
    search: 'table.updates.isUpdatedAfter(place.id, lsn) ? undefined : findLive(table, place)',
    replace: 'lsn < 0 ? undefined : findLive(table, place)',
  },
  {
    name: 'a replay does not apply deaths by id',
    file: 'engine/recovery/recovery.ts',
    search: 'yield place === undefined ? [] : [place];',
    replace: 'yield place === undefined || lsn % 5 === 0 ? [] : [place];',
  },
  {
    name: 'the manifest forgets the documents',
    file: 'engine/checkpoint/checkpointer.ts',
    search: 'const stored = documents.stored();',
    replace: 'const stored = documents.stored().slice(1);',
  },
  {
    name: 'a large commit is visible before all of it is applied',
    file: 'engine/commit/committer.ts',
    search: '    this.#ceilingLsn = lsn - 1;\n',
    replace: '    await this.#log!.flush();\n',
  },
  {
    name: 'the manifest has an LSN that is not yet durable in the log',
    file: 'engine/checkpoint/checkpointer.ts',
    search: 'const lsn = Math.max(committer.durableLsn, this.foundLsn);',
    replace: 'const lsn = Math.max(committer.headLsn, this.foundLsn);',
  },
  {
    name: 'segments are removed that the manifest lists',
    file: 'engine/checkpoint/orphans.ts',
    search: 'if (number === null || known.has(number)) continue;',
    replace: 'if (number === null || (known.has(number) && number % 3 !== 0)) continue;',
  },
  {
    name: 'the end of the log is not written again after a kill',
    file: 'storage/log-recovery.ts',
    search: '    await writeWhole(handle, end.unproven, end.offset - end.unproven.length);\n    await handle.sync();\n',
    replace: '    void writeWhole;\n',
  },
  {
    name: 'a clean close leaves no seal, no mark and no watermark',
    file: 'storage/log.ts',
    search: '        await this.#seal();\n',
    replace: '',
    also: [NO_WATERMARK],
  },
  {
    name: 'the mark does not name a new log file, and there is no watermark',
    file: 'storage/log.ts',
    search: '    await this.#mark.write({ sequence, firstLsn, reachedLsn: firstLsn - 1 });\n',
    replace: '',
    also: [NO_WATERMARK],
  },
  {
    name: 'the mark names a new log file before the file exists',
    file: 'storage/log.ts',
    search: '    const handle = await placeSpare(',
    replace:
      '    await this.#mark.write({ sequence, firstLsn, reachedLsn: firstLsn - 1 });\n    const handle = await placeSpare(',
  },
  {
    name: 'the mark of a clean close has an LSN that is too low, and there is no watermark',
    file: 'storage/log.ts',
    search: 'this.#mark.write({ reachedLsn: this.headLsn, closed: true })',
    replace: 'this.#mark.write({ closed: true })',
    also: [NO_WATERMARK],
  },
  {
    name: 'the mark is not synced',
    file: 'storage/mark-file.ts',
    search: '    await this.#handle.datasync();\n',
    replace: '',
  },
  {
    name: 'the mark is replaced before its bytes are durable',
    file: 'storage/mark-file.ts',
    search: '    await handle.sync();\n',
    replace: '',
  },
  {
    name: 'the watermark is never written',
    ...NO_WATERMARK,
  },
  {
    name: 'the watermark is one too high',
    file: 'storage/log.ts',
    search: 'this.#mark.writeWatermark(lsn)',
    replace: 'this.#mark.writeWatermark(lsn + 1)',
  },
  {
    name: 'the watermark is not read',
    file: 'storage/log-recovery.ts',
    search: '    mark?.watermarkLsn ?? 0,\n',
    replace: '',
  },
  {
    name: 'the log is not asked for room',
    file: 'engine/commit/committer.ts',
    search: 'if (!this.#log!.roomFor(payloadBytes, urgent)) throw',
    replace: 'if (payloadBytes < 0) throw',
  },
  {
    name: 'the log reports that it always has room',
    file: 'storage/log-room.ts',
    search: '    if (this.#overdrawn) return false;\n',
    replace: '    if (bytes > 0) return true;\n',
  },
  {
    name: 'rows that are not durable are counted',
    file: 'engine/table/unseen-rows.ts',
    search: '    return rows;\n',
    replace: '    return rows * 0;\n',
  },
  {
    name: 'the words of dead rows are counted',
    go: 'texts',
    file: 'engine/texts/block-search.ts',
    search: 'if (dead.count === 0) return undefined;',
    replace: 'if (dead.count >= 0) return undefined;',
  },
  {
    name: 'the words of rows that die during a search are not counted',
    go: 'texts',
    file: 'engine/texts/block-search.ts',
    search: 'dead.lsns[place]! <= lsn',
    replace: 'dead.lsns[place]! <= lsn + 1e9',
  },
  {
    name: 'rows of memtables that a reader does not see are counted',
    go: 'texts',
    file: 'engine/texts/visible-rows.ts',
    search: 'if (rows.length === to - from) return undefined;',
    replace: 'if (rows.length > 0) return undefined;',
  },
  {
    name: 'the words of a transaction of its own are not counted',
    go: 'texts',
    file: 'engine/texts/search-statistics.ts',
    search: 'if (overlay?.memtable !== undefined)',
    replace: 'if (overlay?.memtable !== undefined && view.lsn < 0)',
  },
  {
    name: 'a text block of another language is searched',
    go: 'texts',
    file: 'engine/texts/text-tag.ts',
    search: 'LANGUAGES.indexOf(language), ...columns',
    replace: 'LANGUAGES.length, ...columns',
  },
  {
    name: 'a text block of other columns is searched',
    go: 'texts',
    file: 'engine/texts/text-tag.ts',
    search: 'LANGUAGES.indexOf(language), ...columns',
    replace: 'LANGUAGES.indexOf(language)',
  },
  {
    name: 'the words of a default are not indexed',
    go: 'texts',
    file: 'engine/texts/text-tag.ts',
    search: 'missing: (columns.withId(id)?.default as string | null) ?? null',
    replace: 'missing: null',
  },
  {
    name: 'a text index outlives its column',
    go: 'texts',
    file: 'engine/catalog/changes.ts',
    search: '...(definition.text?.columns.includes(column) ? withoutText(definition) : definition),',
    replace: '...definition,',
  },
];
