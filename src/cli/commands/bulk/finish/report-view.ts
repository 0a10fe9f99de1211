import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import { columnNamesOf, type ReportRow } from '../../../bulk/results/report.js';
import type { View } from '../../../output/view.js';

export function reportView(plan: FrozenPlan): View<ReportRow> {
  const names = columnNamesOf(plan);
  return {
    columns: names.map((name, index) => ({ name, value: (row) => row[index] })),
    record: (row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])),
  };
}
