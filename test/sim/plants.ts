// Faults to plant in the engine, so that the simulation shows that it finds them: each is a small change of one source file.

export interface Plant {
  name: string;
  /** Below src. */
  file: string;
  /** Stands in the file exactly once. */
  search: string;
  replace: string;
}

export const PLANTS: readonly Plant[] = [
  {
    name: 'the log is not synced before it answers',
    file: 'storage/log.ts',
    search: 'await this.#active.handle.datasync();\n    this.durableLsn = lsn;',
    replace: 'this.durableLsn = lsn;',
  },
  {
    name: 'a new log file is used before its name is durable',
    file: 'storage/log-file.ts',
    search: '  await fs.syncDir(dir);\n  return fs.open(path',
    replace: '  return fs.open(path',
  },
  {
    name: 'a new log file is used before its header is durable',
    file: 'storage/log-file.ts',
    search: '    await spare.sync();\n',
    replace: '',
  },
  {
    name: 'a segment is not synced',
    file: 'engine/compaction/merge-files.ts',
    search: '      await handle.sync();\n',
    replace: '',
  },
  {
    name: 'the directory of segments is not synced',
    file: 'engine/compaction/merge-files.ts',
    search: "    if (this.#dir !== '') await this.#fs.syncDir(this.#dir);\n",
    replace: '',
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
    search: 'segments: entries, appliedLsn: frozen.lsn, expired',
    replace: 'segments: entries, appliedLsn: frozen.lsn + 1, expired',
  },
  {
    name: 'appliedLsn is one too low',
    file: 'engine/compaction/compact-table.ts',
    search: 'segments: entries, appliedLsn: frozen.lsn, expired',
    replace: 'segments: entries, appliedLsn: frozen.lsn - 1, expired',
  },
  {
    name: 'the log is truncated one file too early',
    file: 'storage/log.ts',
    search: 'if (count === 0) return;',
    replace: 'count = Math.min(count + 1, files.length);\n    if (count === 0) return;',
  },
  {
    name: 'a compaction forgets rows that died meanwhile',
    file: 'engine/compaction/compact-table.ts',
    search: '  buryLate(table, frozen, new Set(frozen.segments));\n',
    replace: '  void buryLate;\n',
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
    name: 'the checksum of a frame is not looked at',
    file: 'storage/frame.ts',
    search: 'return sum === region.view.getUint32(offset + FRAME_CRC_AT, true) ? header : null;',
    replace: 'return sum < 0 ? null : header;',
  },
  {
    name: 'the checksum of the manifest is not looked at',
    file: 'storage/manifest.ts',
    search: 'if (sum !== header[2])',
    replace: 'if (sum === "")',
  },
  {
    name: 'the checksums of a segment are not looked at',
    file: 'engine/residency.ts',
    search: 'deep: !file.checked',
    replace: 'deep: false',
  },
  {
    name: 'a key is evicted early',
    file: 'engine/replays.ts',
    search: 'count <= entries &&',
    replace: 'count <= entries / 2 &&',
  },
  {
    name: 'the first of the new answers is not written to its file',
    file: 'engine/replays.ts',
    search: 'this.#queue.slice(this.#placeAfter(this.#writtenLsn), this.#placeAfter(lsn))',
    replace: 'this.#queue.slice(this.#placeAfter(this.#writtenLsn) + 1, this.#placeAfter(lsn))',
  },
  {
    name: 'an answer is kept in memory and not logged with its write',
    file: 'engine/committer.ts',
    search:
      'const lsn = this.#log!.append(operations + 1, [...parts, ...singleRun(OPERATION.replay, encodeReplay(entry))]);',
    replace: 'const lsn = this.#log!.append(operations, parts);',
  },
  {
    name: 'ids are given out again after a restart',
    file: 'engine/recovery.ts',
    search: '  table.nextId = Math.max(table.nextId, greatestId(run.bytes) + 1);\n',
    replace: '  void greatestId;\n',
  },
  {
    name: 'a removal is applied before it is appended and seen before it is durable',
    file: 'engine/table.ts',
    search: '    const entry = attach?.(answer);\n    const run = [',
    replace:
      '    for (const place of found) killRow(this, place, this.context.committer.visibleLsn);\n    const entry = attach?.(answer);\n    const run = [',
  },
  {
    name: 'a change of the catalog is applied before it is durable',
    file: 'engine/ddl.ts',
    search:
      '    await context.committer.durable(lsn + changes.length - 1, () => {\n      for (const [index, change] of changes.entries()) tables.apply(change, lsn + index);\n    });',
    replace:
      '    for (const [index, change] of changes.entries()) tables.apply(change, lsn + index);\n    await context.committer.durable(lsn + changes.length - 1);',
  },
  {
    name: 'the files of a dropped table go before the drop is logged',
    file: 'engine/ddl.ts',
    search: "        await this.change([{ op: 'drop_table', id: table.id }]",
    replace: "        table.unpin(table.version);\n        await this.change([{ op: 'drop_table', id: table.id }]",
  },
  {
    name: 'a conflict with another commit is not seen',
    file: 'engine/transaction-commit.ts',
    search: 'if (isAlive(place)) return place;',
    replace: 'if (isAlive(place) || table.id > 0) return place;',
  },
  {
    name: 'a conflict is not seen when a compaction came between',
    file: 'engine/transaction-commit.ts',
    search: 'table.updates.isUpdatedAfter(place.id, lsn) ? undefined : findLive(table, place)',
    replace: 'lsn < 0 ? undefined : findLive(table, place)',
  },
  {
    name: 'a replay does not apply deaths by id',
    file: 'engine/recovery.ts',
    search: 'yield place === undefined ? [] : [place];',
    replace: 'yield place === undefined || lsn % 5 === 0 ? [] : [place];',
  },
  {
    name: 'the manifest forgets the documents',
    file: 'engine/checkpointer.ts',
    search: 'checkpoint.documents = documents.stored();',
    replace: 'checkpoint.documents = documents.stored().slice(1);',
  },
  {
    name: 'a large commit is seen before all of it is applied',
    file: 'engine/committer.ts',
    search: '    this.#ceilingLsn = lsn - 1;\n',
    replace: '',
  },
  {
    name: 'the manifest says more than the log holds',
    file: 'engine/checkpointer.ts',
    search: 'const lsn = Math.max(committer.durableLsn, this.foundLsn);',
    replace: 'const lsn = Math.max(committer.headLsn, this.foundLsn);',
  },
  {
    name: 'segments are removed that the manifest lists',
    file: 'engine/orphans.ts',
    search: 'if (number === null || known.has(number)) continue;',
    replace: 'if (number === null || (known.has(number) && number % 3 !== 0)) continue;',
  },
  {
    name: 'the end of the log is not written again after a kill',
    file: 'storage/log-recovery.ts',
    search:
      '    if (end.unproven.length > 0) await writeWhole(handle, end.unproven, end.offset - end.unproven.length);\n',
    replace: '    void writeWhole;\n',
  },
  {
    name: 'an orderly end leaves no seal',
    file: 'storage/log.ts',
    search: '        await this.#seal();\n',
    replace: '',
  },
];
