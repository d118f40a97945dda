import { type Check, defineChecks } from './check.ts'

export const products: readonly Check[] = defineChecks('products', [
  {
    id: 'any',
    severity: 'warning',
    rule: 'The edition has products.',
    message: 'The edition has no products.',
    suggestion: 'Add a product, unless this is a page of announcements only.',
    fails: (facts) => facts.products.length === 0,
  },
  {
    id: 'any_published',
    severity: 'warning',
    rule: 'Some product is published.',
    message: 'All products are drafts.',
    suggestion: 'Publish one.',
    fails: (facts) => facts.products.length > 0 && facts.products.every(({ is_draft }) => is_draft),
  },
  {
    id: 'price_present',
    severity: 'warning',
    rule: 'Published products have a price.',
    message: 'A published product has no price.',
    suggestion: 'Set a price, 0 for what is free. Products made by an import have none of their own.',
    fails: (facts) => facts.products.filter(({ is_draft, price_minor }) => !is_draft && price_minor === null),
  },
  {
    id: 'category_assigned',
    severity: 'info',
    rule: 'Products have a category.',
    message: 'A product has no category.',
    suggestion: 'Assign one.',
    fails: (facts) => facts.products.filter(({ category_id }) => category_id === null),
  },
  {
    id: 'variant_complete',
    severity: 'warning',
    rule: 'Products that need a variant have an active one.',
    message: 'A product needs a variant and has no active one.',
    suggestion: 'Add variants.',
    fails: (facts) =>
      facts.products.filter(
        ({ is_variant_required, has_active_variant }) => is_variant_required && !has_active_variant,
      ),
  },
])

export const fulfilment: readonly Check[] = defineChecks('fulfilment', [
  {
    id: 'pickup_points',
    severity: 'warning',
    rule: 'What has to be picked up has a place for it.',
    message: 'A product has to be picked up, and no pickup point is published.',
    suggestion: 'Add a pickup point.',
    fails: ({ products: offered, has_pickup_point }) =>
      has_pickup_point ? false : offered.filter(({ is_pickup_required }) => is_pickup_required),
  },
  {
    id: 'pass_design',
    severity: 'info',
    rule: 'Products for the wallet have a pass design.',
    message: 'A product goes to the wallet and has no pass design.',
    suggestion: 'Create one.',
    fails: ({ products: offered }) =>
      offered.filter(({ is_wallet_enabled, has_pass_design }) => is_wallet_enabled && !has_pass_design),
  },
])
