// Shows the plan of the statement that was run. On request, runs it again and shows what each step
// of the plan did.

import { Failure } from '../failure.tsx';
import { useEffect, useRef, useState } from '../preact.ts';
import { isMatch } from '../statement-words.ts';
import '../style/views.css';
import { type PlanRow, planOf } from './plan.ts';
import { PlanTree } from './plan-tree.tsx';
import type { Result } from './run-statement.ts';

export function PlanPanel({ result }: { result: Result }) {
  const [plan, setPlan] = useState<PlanRow | undefined>(result.plan);
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const leaving = useRef<AbortController | undefined>(undefined);
  const { statement } = result;
  const canPlan = isMatch(statement);
  const explain = async (isRun: boolean) => {
    const own = new AbortController();
    leaving.current?.abort();
    leaving.current = own;
    setBusy(isRun);
    try {
      const found = await planOf(statement, result.parameters, isRun, own.signal);
      if (leaving.current !== own) return;
      setPlan(found);
      setError(undefined);
    } catch (failed) {
      if (leaving.current === own && !own.signal.aborted) setError(failed);
    }
    if (leaving.current === own) setBusy(false);
  };
  useEffect(() => {
    setError(undefined);
    setPlan(result.plan);
    if (canPlan) void explain(false);
    return () => leaving.current?.abort();
  }, [result.startedAt]);
  if (!canPlan && plan === undefined) {
    return <p class="quiet">Only reads have a plan. Run a MATCH, or put EXPLAIN in front of a statement.</p>;
  }
  return (
    <>
      <Failure error={error} />
      {plan !== undefined && <PlanTree row={plan} />}
      {canPlan && plan?.actual_rows === undefined && (
        <div class="bar">
          <button type="button" disabled={isBusy} onClick={() => explain(true)}>
            {isBusy ? 'Running ...' : 'Run it and show what each step did'}
          </button>
          {isBusy && (
            <button type="button" onClick={() => leaving.current?.abort()}>
              Stop
            </button>
          )}
        </div>
      )}
    </>
  );
}
