import { type Check, defineChecks } from './check.ts'

export const integrations: readonly Check[] = defineChecks('integrations', [
  {
    id: 'webhooks_healthy',
    severity: 'warning',
    rule: 'Webhook endpoints receive the events.',
    message: 'Deliveries to an active webhook endpoint were given up in the last 24 hours.',
    suggestion: 'Look at its deliveries, and recover them once it is mended.',
    fails: ({ endpoints }) => endpoints.filter(({ is_active, has_exhausted }) => is_active && has_exhausted),
  },
  {
    id: 'webhooks_inactive',
    severity: 'info',
    rule: 'No webhook endpoint was switched off by its failures.',
    message: 'A webhook endpoint was switched off because it failed.',
    suggestion: 'Mend it and switch it on again, or delete it.',
    fails: ({ endpoints }) =>
      endpoints.filter(({ is_active, disabled_reason }) => !is_active && disabled_reason !== 'manual'),
  },
])

export const imports: readonly Check[] = defineChecks('imports', [
  {
    id: 'unfinished',
    severity: 'info',
    rule: 'No import waits for its mapping for more than 7 days.',
    message: 'An import has waited for its mapping for more than 7 days.',
    suggestion: 'Finish or cancel it.',
    fails: ({ unfinished_imports }) => unfinished_imports,
  },
])
