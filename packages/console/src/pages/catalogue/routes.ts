import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { edition } from '../../layout-routes'
import { flag, choice, readListSearch, text } from '../../search'

const byName = ['name', '-name', 'created', '-created', 'modified', '-modified'] as const
const getParentRoute = () => edition

const products = createRoute({
  getParentRoute,
  path: 'products',
  validateSearch: readListSearch({ search: text, category_id: text, is_draft: flag, ordering: choice(byName) }),
  component: lazyRouteComponent(() => import('./products'), 'Products'),
})

const product = createRoute({
  getParentRoute,
  path: 'products/$product',
  component: lazyRouteComponent(() => import('./product'), 'Product'),
})

const categories = createRoute({
  getParentRoute,
  path: 'categories',
  validateSearch: readListSearch({ search: text, ordering: choice([...byName, 'position', '-position']) }),
  component: lazyRouteComponent(() => import('./categories'), 'Categories'),
})

const locations = createRoute({
  getParentRoute,
  path: 'locations',
  validateSearch: readListSearch({ search: text, is_draft: flag, ordering: choice(byName) }),
  component: lazyRouteComponent(() => import('./locations'), 'Locations'),
})

const feeRules = createRoute({
  getParentRoute,
  path: 'fee-rules',
  validateSearch: readListSearch({ search: text, currency: text, is_active: flag, ordering: choice(byName) }),
  component: lazyRouteComponent(() => import('./fee-rules'), 'FeeRules'),
})

const passDesigns = createRoute({
  getParentRoute,
  path: 'pass-designs',
  validateSearch: readListSearch({ search: text, product_id: text, ordering: choice(byName) }),
  component: lazyRouteComponent(() => import('./pass-designs'), 'PassDesigns'),
})

export const catalogueRoutes = [products, product, categories, locations, feeRules, passDesigns] as const
