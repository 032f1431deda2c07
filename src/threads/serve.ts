// The worker thread's side of a link: runs the handler of the called name, and answers with its
// output or error.

import { plainError } from './errors.ts';
import type { Calls, FromThread, InputOf, OutputOf, ToThread } from './messages.ts';

/** A call as its handler sees it. */
export interface ServedCall {
  /** Sends a message to the owner, who receives it before the call ends. */
  send(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /**
   * Both functions are set by the handler. `receive` is called with each message from the owner,
   * `cancelled` when the owner cancels the call.
   */
  receive: (message: unknown) => void;
  cancelled: () => void;
}

export type Handlers<C extends Calls> = {
  [K in keyof C]: (input: InputOf<C, K>, call: ServedCall) => OutputOf<C, K> | Promise<OutputOf<C, K>>;
};

type Post = (message: FromThread, transfer: readonly ArrayBuffer[]) => void;

/**
 * Returns the function that takes the owner's messages. `moved` returns the buffers of an output
 * that are transferred instead of copied.
 */
export function serve<C extends Calls>(
  post: Post,
  handlers: Handlers<C>,
  moved: (output: unknown) => readonly ArrayBuffer[] = () => [],
): (message: ToThread) => void {
  const calls = new Map<number, ServedCall>();
  const answer = async (call: number, name: string, input: unknown) => {
    const served: ServedCall = {
      send: (message, transfer = []) => post({ kind: 'message', call, message }, transfer),
      receive: () => undefined,
      cancelled: () => undefined,
    };
    calls.set(call, served);
    try {
      const output = await handlers[name as keyof C](input as never, served);
      post({ kind: 'ended', call, output }, moved(output));
    } catch (error) {
      post({ kind: 'failed', call, error: plainError(error) }, []);
    } finally {
      calls.delete(call);
    }
  };
  return (message) => {
    if (message.kind === 'call') void answer(message.call, message.name, message.input);
    else if (message.kind === 'message') calls.get(message.call)?.receive(message.message);
    else calls.get(message.call)?.cancelled();
  };
}
