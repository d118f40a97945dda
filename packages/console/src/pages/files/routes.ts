import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { flag, choice, readListSearch, text } from '../../search'

const list = createRoute({
  getParentRoute: () => edition,
  path: 'files',
  validateSearch: readListSearch({
    search: text,
    purpose: choice(['image', 'import', 'attachment', 'other']),
    mime_type: text,
    is_used: flag,
    file: text,
    ordering: choice(['created', '-created', 'modified', '-modified', 'name', '-name', 'size', '-size']),
  }),
  component: lazyRouteComponent(() => import('./list'), 'Files'),
})

export const fileRoutes = [list] as const
