// The route table: every route of the service, once.

import type { Route } from '../http/route.ts';
import { batchRoutes } from './batch.ts';
import { healthRoutes } from './health.ts';
import { hyperedgeRoutes } from './hyperedges.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { tableRoutes } from './tables.ts';

export const routes: readonly Route[] = [
  ...healthRoutes,
  ...hyperedgeRoutes,
  ...maintenanceRoutes,
  ...tableRoutes,
  ...batchRoutes,
];
