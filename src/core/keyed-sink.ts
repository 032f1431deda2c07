// A sink for row text with marks (assembly/json/marks.ts): it holds the text with keys in their
// place.

import type { KeyDictionary, KeyForm } from './key-dictionary.ts';
import { TextSink } from './row-output.ts';

export class KeyedSink extends TextSink {
  readonly #keys: KeyDictionary;
  /** How keys are written from now on. */
  form: KeyForm = 'keys';

  constructor(keys: KeyDictionary) {
    super();
    this.#keys = keys;
  }

  /**
   * Appends text that does not end inside of a mark. Throws `overloaded`; the sink may then hold a
   * part of it.
   */
  override append(marked: Uint8Array): void {
    this.#keys.translateTo(marked, this.form, this.#appendKeyed);
  }

  readonly #appendKeyed = (text: Uint8Array): void => super.append(text);
}
