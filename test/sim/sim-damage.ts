// Damages files between the lives of two processes: changes bits or bytes, or removes a file. The
// next process must refuse the file by name, or must still have all data.

import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { Database } from '../../src/engine/index.ts';
import { verifyDirectory } from '../../src/engine/verify/verify-directory.ts';
import { HedgerowError } from '../../src/errors.ts';
import { textOf } from '../model/naive-table.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { judge, textOfScan } from './sim-judge.ts';
import { difference } from './sim-ledger.ts';
import { Violation } from './sim-model.ts';
import { failureOf } from './sim-perils.ts';
import type { SimWorld } from './sim-world.ts';

/** Describes what was done to the files of a disk while no process had it open. */
interface Damage {
  what: string;
  /** Paths that were changed. */
  paths: string[];
  /** Whether the previous process was shut down cleanly. */
  orderly: boolean;
}

export class SimDamage {
  readonly #world: SimWorld;
  /** The bytes of every segment file that ever existed, by path. */
  readonly #seen = new Map<string, Uint8Array>();

  constructor(world: SimWorld) {
    this.#world = world;
  }

  /**
   * Ends the process, damages copies of its disk in several ways, and continues with the undamaged
   * disk.
   */
  async step(): Promise<void> {
    const world = this.#world;
    await world.settle();
    if (world.refuses || world.ledger.unsettled.size > 0) return;
    const orderly = world.random.chance(0.5);
    if (orderly) await world.close();
    else await world.settle();
    if (world.perils.disk) return world.crash(true);
    world.note(orderly ? 'CLOSED, then damaged' : 'KILLED, then damaged');
    world.memory.relieve();
    const disk = world.fs.copy();
    world.fs.stop();
    for (let count = 1 + world.random.below(4); count > 0; count--) await this.#try(disk.copy(), orderly);
    const copy = disk.copy();
    const exchange = this.#exchange(copy);
    if (exchange !== undefined) await this.#openDamaged(copy, { ...exchange, orderly }, false);
    world.saw('damage');
    await world.restart();
  }

  async #try(disk: SimFs, orderly: boolean): Promise<void> {
    const world = this.#world;
    const done = this.#damage(disk);
    if (done === undefined) return;
    await this.#openDamaged(disk, { ...done, orderly }, world.random.chance(0.3));
  }

  async #openDamaged(disk: SimFs, damage: Damage, verify: boolean): Promise<void> {
    const world = this.#world;
    world.note(`damage: ${damage.what}`);
    disk.schedule = () => undefined;
    const isVerified = verify ? await this.#isVerified(disk.copy()) : undefined;
    let db: Database;
    try {
      db = await world.waitOn(disk, Database.open(world.options(disk, '/db')), 'the opening of a damaged directory');
    } catch (error) {
      this.#assertNamed(damage, error);
      if (isVerified === true) throw unnoticed(damage, (error as Error).message);
      world.saw('damage refused');
      return;
    }
    const refusal = this.#compare(damage, db);
    if (isVerified === true && refusal !== undefined) throw unnoticed(damage, refusal);
    await world.waitOn(disk, db.close(), 'the end').catch(() => undefined);
  }

  #assertNamed({ what }: Damage, error: unknown): void {
    const { code, message } = failureOf(error);
    const file = error instanceof HedgerowError ? error.fields?.file : undefined;
    if (code === 'corrupt' && typeof file === 'string' && file.startsWith('/db')) return;
    throw new Violation('damage-unnamed', `${what}: the opening answered ${code}: ${message}`);
  }

  /** Returns whether a check of the directory finds no fault. */
  async #isVerified(disk: SimFs): Promise<boolean> {
    const core = loadCore();
    const tools = { fs: disk, crc32c: checksum(), core };
    const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
    const report = await this.#world.waitOn(disk, verifyDirectory(tools, '/db', turn), 'the check of a directory');
    return report.problems.length === 0;
  }

  /**
   * Compares the damaged database with the model. A table may refuse, but everything that is served
   * must be complete. Returns the reason why a table refuses.
   */
  #compare(damage: Damage, db: Database): string | undefined {
    const world = this.#world;
    const { model } = world.ledger;
    let refusal: string | undefined;
    for (const [name, table] of model.tables) {
      const found = db.tables().find((each) => each.name === name);
      if (found === undefined) throw this.#silent(damage, `table ${name} is gone`);
      let text: string;
      try {
        text = textOfScan(found, { format: 'json' });
      } catch (error) {
        const { code, message } = failureOf(error);
        if (code !== 'table_corrupt') throw new Violation('damage-unnamed', `${damage.what}: ${code}: ${message}`);
        refusal = message;
        continue;
      }
      const wanted = textOf(table.at(model.lsn), 'json');
      if (text !== wanted) throw this.#silent(damage, `rows of ${name}:\n${difference(text, wanted)}`);
    }
    if (refusal !== undefined) {
      world.saw('damaged table refuses');
      return refusal;
    }
    world.saw('damage without effect');
    try {
      judge(db, model, world);
    } catch (error) {
      if (error instanceof Violation && error.rule === 'wrong-refusal') return error.message;
      if (error instanceof Violation) throw this.#silent(damage, error.message);
      const { code, message } = failureOf(error);
      if (code !== 'table_corrupt') throw new Violation('damage-unnamed', `${damage.what}: ${code}: ${message}`);
      return message;
    }
    return undefined;
  }

  #silent(damage: Damage, what: string): Violation {
    const [path = ''] = damage.paths;
    const place = /\/db\/(log|tables|replays|manifest)/.exec(path)?.[1] ?? 'other';
    return new Violation(`damage-silent-${place}${damage.orderly ? '' : '-killed'}`, `${damage.what}: ${what}`);
  }

  #damage(disk: SimFs): Omit<Damage, 'orderly'> | undefined {
    const { random, source } = this.#world;
    const files = disk
      .files()
      .filter((path) => path.startsWith('/db/') && !/\.tmp$|spare$|\/lock$|\/reserve$/.test(path));
    if (random.chance(0.1)) return this.#lose(disk, files);
    const path = source.pick(files);
    const size = sizeOf(disk, path);
    if (size === 0) return undefined;
    // Damages the bytes in use more often than the zeros after them.
    const used = usedOf(disk, path);
    const at = random.below(random.chance(0.8) ? Math.max(1, used) : size);
    const bytes = read(disk, path);
    switch (random.below(6)) {
      case 0:
        disk.replace(path, null);
        return { what: `${path} is missing`, paths: [path] };
      case 1:
        disk.replace(path, bytes.slice(0, at));
        return { what: `${path} is cut at ${at} of ${size}`, paths: [path] };
      case 2: {
        const sector = Math.floor(at / 512) * 512;
        const end = random.chance(0.5) ? size : Math.min(size, sector + 512);
        if (bytes.subarray(sector, end).every((byte) => byte === 0)) return undefined;
        disk.replace(path, bytes.fill(0, sector, end));
        return { what: `${path} is zero from ${sector} to ${end} of ${size}`, paths: [path] };
      }
      case 3:
        return this.#swap(disk, files, path);
      default:
        bytes[at]! ^= 1 << random.below(8);
        disk.replace(path, bytes);
        return { what: `a bit of ${path} at ${at} of ${size} is flipped`, paths: [path] };
    }
  }

  /**
   * Removes the whole log, with or without the manifest. There must be segments: without them
   * nothing would show that data was lost.
   */
  #lose(disk: SimFs, files: readonly string[]): Omit<Damage, 'orderly'> | undefined {
    const withManifest = this.#world.random.chance(0.5);
    const paths = files.filter((path) => path.startsWith('/db/log/') || (withManifest && path === '/db/manifest'));
    if (!files.some((path) => path.endsWith('.hgs')) || paths.length === 0) return undefined;
    for (const path of paths) disk.replace(path, null);
    return { what: `the log${withManifest ? ' and the manifest' : ''} is missing beside segments`, paths };
  }

  /** Swaps two files in one directory. */
  #swap(disk: SimFs, files: readonly string[], path: string): Omit<Damage, 'orderly'> | undefined {
    const dir = directoryOf(path);
    const others = files.filter((other) => other !== path && directoryOf(other) === dir);
    if (others.length === 0) return undefined;
    const other = this.#world.source.pick(others);
    const [left, right] = [read(disk, path), read(disk, other)];
    disk.replace(path, right);
    disk.replace(other, left);
    return { what: `${path} and ${other} are swapped`, paths: [path, other] };
  }

  /**
   * Replaces a segment by another one, current or former, of the same table and size. Every
   * checksum in the file is then valid. Draws no random numbers.
   */
  #exchange(disk: SimFs): Omit<Damage, 'orderly'> | undefined {
    const segments = disk.files().filter((path) => path.endsWith('.hgs'));
    for (const path of segments) this.#seen.set(path, read(disk, path));
    for (const path of segments.reverse()) {
      const now = this.#seen.get(path)!;
      for (const [other, bytes] of this.#seen) {
        if (other === path || directoryOf(other) !== directoryOf(path) || bytes.length !== now.length) continue;
        disk.replace(path, bytes);
        return { what: `${path} is what ${other} is or was`, paths: [path] };
      }
    }
    return undefined;
  }
}

function unnoticed({ what }: Damage, refusal: string): Violation {
  return new Violation(
    'verify-silent',
    `${what}: it is refused (${refusal}), but a check of the directory finds no fault`,
  );
}

let crc32c: ReturnType<typeof makeChecksum> | undefined;

function checksum(): ReturnType<typeof makeChecksum> {
  crc32c ??= makeChecksum(loadCore().instantiate());
  return crc32c;
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function sizeOf(disk: SimFs, path: string): number {
  return read(disk, path).length;
}

function usedOf(disk: SimFs, path: string): number {
  const bytes = read(disk, path);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return end;
}

function read(disk: SimFs, path: string): Uint8Array {
  const handle = disk.open(path, 'read');
  const bytes = new Uint8Array(handle.size());
  handle.read(bytes, 0);
  handle.close();
  return bytes;
}
