// Tests calls to a thread through `ThreadLink`, with an object in place of the thread.

import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { ThreadLink, type ThreadWorker } from '../../src/threads/link.ts';
import type { FromThread, ToThread } from '../../src/threads/messages.ts';
import { serve } from '../../src/threads/serve.ts';

type SampleCalls = {
  double: (value: number) => number;
  fail: (code: string) => never;
  talk: (none: undefined) => string;
  never: (none: undefined) => void;
};

/**
 * A stand-in for a thread. It runs in this thread, but its messages are cloned and arrive later.
 */
class SampleWorker extends EventEmitter implements ThreadWorker {
  isHeld = false;
  readonly #receive = serve<SampleCalls>((message: FromThread) => this.#say(message), {
    double: (value) => value * 2,
    fail: (code) => {
      if (code === 'conflict') throw new HedgerowError('conflict', 'lost', { fields: { at: 3 } });
      throw Object.assign(new Error('no file'), { code });
    },
    talk: (_, call) =>
      new Promise((resolve, reject) => {
        call.receive = (message) => resolve(`heard ${String(message)}`);
        call.cancelled = () => reject(new HedgerowError('timeout', 'cancelled'));
        call.send('speak');
      }),
    never: () => new Promise<void>(() => undefined),
  });

  #say(message: FromThread): void {
    const copy = structuredClone(message);
    setImmediate(() => this.emit('message', copy));
  }
  postMessage(message: ToThread): void {
    const copy = structuredClone(message);
    setImmediate(() => this.#receive(copy));
  }
  ref(): void {
    this.isHeld = true;
  }
  unref(): void {
    this.isHeld = false;
  }
  async terminate(): Promise<void> {}
}

function linked() {
  const worker = new SampleWorker();
  const died = (reason: Error, alone: boolean) => new Error(`died: ${reason.message}${alone ? ', alone' : ''}`);
  return { worker, link: new ThreadLink<SampleCalls>({ worker, died }) };
}

test('calls return their outputs and keep the process alive while they run', async () => {
  const { worker, link } = linked();
  const both = Promise.all([link.call('double', 4), link.call('double', 5)]);
  expect([link.calls, worker.isHeld]).toEqual([2, true]);
  expect(await both).toEqual([8, 10]);
  expect([link.calls, worker.isHeld]).toEqual([0, false]);
});

test('errors keep their class, code and fields, and system errors keep their code', async () => {
  const { link } = linked();
  const ours = await link.call('fail', 'conflict').catch((error: unknown) => error);
  expect(ours).toBeInstanceOf(HedgerowError);
  expect(ours).toMatchObject({ code: 'conflict', message: 'lost', fields: { at: 3 } });
  await expect(link.call('fail', 'ENOENT')).rejects.toMatchObject({ code: 'ENOENT', message: 'no file' });
});

test("messages are exchanged while a call runs, and a cancelled call ends with the thread's last answer", async () => {
  const { link } = linked();
  const talk = link.open('talk', undefined, { receive: (message: string) => talk.send(`${message}!`) });
  expect(await talk.output).toBe('heard speak!');
  const cancelled = link.open('talk', undefined, { receive: () => cancelled.cancel() });
  await expect(cancelled.output).rejects.toMatchObject({ code: 'timeout' });
  expect(cancelled.isOpen).toBe(false);
});

test('a thread that dies or is stopped fails all calls and refuses later ones', async () => {
  const { worker, link } = linked();
  const calls = [link.call('never', undefined), link.call('never', undefined)];
  worker.emit('error', new Error('out of memory'));
  worker.emit('exit', 1);
  for (const call of calls) await expect(call).rejects.toThrow(/^died: out of memory$/);
  expect([link.isAlive, link.calls]).toEqual([false, 0]);
  await expect(link.call('double', 1)).rejects.toThrow('died: out of memory');
  const stopped = linked().link;
  const last = stopped.call('never', undefined);
  await Promise.all([stopped.stop(new Error('enough')), expect(last).rejects.toThrow('enough')]);
});

test('an input that cannot be cloned rejects only its own call', async () => {
  const { link } = linked();
  await expect(link.call('double', (() => 1) as unknown as number)).rejects.toThrow(/could not be cloned/);
  expect([link.calls, await link.call('double', 1)]).toEqual([0, 2]);
});
