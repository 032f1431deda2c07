// The statement editor on the page: loads it when it is first needed, and keeps it and the statement the same.

import type { Table } from '../../client/index.ts';
import { effect, type ReadonlySignal, useEffect, useRef } from '../preact.ts';
import { tables } from '../state.ts';
import type { StatementEditor } from './statement-editor.ts';

interface Props {
  readonly text: ReadonlySignal<string>;
  readonly fault: { readonly line: number; readonly column: number } | undefined;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  readonly recall: (step: -1 | 1) => string | undefined;
}

export function EditorFrame(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<StatementEditor | undefined>(undefined);
  const now = useRef(props);
  now.current = props;
  const { fault } = props;
  useEffect(() => {
    let isGone = false;
    let unfollow = () => {};
    void import('./statement-editor.ts').then(({ createEditor }) => {
      if (isGone || host.current === null) return;
      editor.current = createEditor(host.current, {
        text: now.current.text.value,
        label: 'Statement',
        tables: (): readonly Table[] => tables.value,
        onChange: (changed) => now.current.onChange(changed),
        onRun: () => now.current.onRun(),
        recall: (step) => now.current.recall(step),
      });
      host.current.dataset.ready = 'true';
      // At once and not with the next picture: meanwhile a key could be pressed, and an older text would overwrite it.
      unfollow = effect(() => editor.current?.setText(now.current.text.value));
    });
    return () => {
      isGone = true;
      unfollow();
      editor.current?.destroy();
    };
  }, []);
  useEffect(() => {
    if (fault !== undefined) editor.current?.markFault(fault.line, fault.column);
  }, [fault]);
  return <div ref={host} class="editor" />;
}
