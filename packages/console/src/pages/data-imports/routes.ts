import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { flag, choice, readListSearch, readSearch, text } from '../../search'
import { steps } from './steps'

const statuses = [
  'draft',
  'parsing',
  'mapping_columns',
  'processing_columns',
  'mapping_products',
  'ready',
  'importing',
  'cancelling',
  'completed',
  'completed_with_errors',
  'failed',
  'cancelled',
  'undoing',
  'undone',
] as const

const list = createRoute({
  getParentRoute: () => edition,
  path: 'imports',
  validateSearch: readListSearch({
    search: text,
    status: choice(statuses),
    source: choice(['csv', 'xlsx', 'api']),
    ordering: choice(['created', '-created', 'name', '-name', 'status', '-status']),
  }),
  component: lazyRouteComponent(() => import('./list'), 'Imports'),
})

const creation = createRoute({
  getParentRoute: () => edition,
  path: 'imports/new',
  validateSearch: readSearch({ kind: choice(['orders', 'customers']), file: text }),
  component: lazyRouteComponent(() => import('./new'), 'NewImport'),
})

const detail = createRoute({
  getParentRoute: () => edition,
  path: 'imports/$import',
  validateSearch: readListSearch({
    step: choice(steps),
    search: text,
    is_mapped: flag,
    action: choice(['create', 'update', 'skip', 'error', 'ignore']),
    outcome: choice(['created', 'updated', 'skipped', 'error', 'ignored', 'cancelled']),
    has_errors: flag,
    ordering: choice([
      'row_number',
      '-row_number',
      'position',
      '-position',
      'rows_count',
      '-rows_count',
      'product',
      '-product',
      'row',
      '-row',
    ]),
  }),
  component: lazyRouteComponent(() => import('./import'), 'Import'),
})

export const dataImportRoutes = [list, creation, detail] as const
