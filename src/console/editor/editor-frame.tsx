// The statement editor as a component of the page: loads the editor when it is first shown, and
// keeps its text equal to the statement.

import type { Table } from '../../client/index.ts';
import { Failure } from '../failure.tsx';
import { NOT_LOADED } from '../lazy.tsx';
import { effect, type ReadonlySignal, useEffect, useRef, useState } from '../preact.ts';
import { tables, wantedName } from '../state.ts';
import { insertionOf } from './insertion.ts';
import type { StatementEditor } from './statement-editor.ts';

interface Props {
  readonly text: ReadonlySignal<string>;
  readonly fault: { readonly line: number; readonly column: number } | undefined;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  readonly recall: (step: -1 | 1) => string | undefined;
}

export const loadEditor = () => import('./statement-editor.ts').then((module) => module.createEditor);

export function EditorFrame(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<StatementEditor | undefined>(undefined);
  const now = useRef(props);
  now.current = props;
  const { fault } = props;
  const [error, setError] = useState<unknown>(undefined);
  useEffect(() => {
    let isGone = false;
    let unfollow = () => {};
    loadEditor().then(
      (createEditor) => {
        if (isGone || host.current === null) return;
        const made = createEditor(host.current, {
          text: now.current.text.value,
          label: 'Statement',
          tables: (): readonly Table[] => tables.value,
          onChange: (changed) => now.current.onChange(changed),
          onRun: () => now.current.onRun(),
          recall: (step) => now.current.recall(step),
        });
        editor.current = made;
        host.current.dataset.ready = 'true';
        if (now.current.fault !== undefined) made.markFault(now.current.fault);
        unfollow = follow(made, now.current.text);
      },
      () => setError(NOT_LOADED),
    );
    return () => {
      isGone = true;
      unfollow();
      editor.current?.destroy();
    };
  }, []);
  useEffect(() => {
    if (fault !== undefined) editor.current?.markFault(fault);
  }, [fault]);
  return (
    <>
      <Failure error={error} title="The editor could not be loaded" />
      <div ref={host} class="editor" />
    </>
  );
}

/**
 * Copies each change of the statement, and each name to insert, into the editor. This happens at
 * once: if it waited for the next rendering, the older text would overwrite a key pressed in
 * between.
 */
function follow(editor: StatementEditor, text: ReadonlySignal<string>): () => void {
  const unfollowText = effect(() => editor.setText(text.value));
  const unfollowName = effect(() => {
    const name = wantedName.value;
    if (name === undefined) return;
    editor.insert(insertionOf(text.peek(), editor.place(), name));
    wantedName.value = undefined;
  });
  return () => {
    unfollowText();
    unfollowName();
  };
}
