// Shows a file that is to be imported: whether its rows are edges or nodes, and the plan for them.

import { useState } from '../preact.ts';
import { looksLikeNodes } from './node-plan.ts';
import { NodePlanPanel } from './node-plan-panel.tsx';
import { PlanPanel } from './plan-panel.tsx';
import type { SourceFile } from './read-file.ts';

export function FilePanel({ name, file }: { name: string; file: SourceFile }) {
  const [holds, setHolds] = useState(() => (looksLikeNodes(file) ? 'nodes' : 'edges'));
  const Plan = holds === 'nodes' ? NodePlanPanel : PlanPanel;
  return (
    <section class="panel" aria-label="Plan">
      <h2>{name}</h2>
      {file.warnings.map((warning) => (
        <p key={warning} class="quiet">
          {warning}
        </p>
      ))}
      <label>
        Each row is{' '}
        <select value={holds} onChange={(event) => setHolds(event.currentTarget.value)}>
          <option value="edges">an edge</option>
          <option value="nodes">a node with attributes</option>
        </select>
      </label>
      <Plan key={holds} name={name} file={file} />
    </section>
  );
}
