import { describe, expect, it } from 'vitest'
import { runChecks, listObstacles, getHealthStatus, countFailures } from '../../src/domain/editions/health/index.ts'
import { presentCheck } from '../../src/modules/editions/health/present-health.ts'
import { combineChanges, type Change, endpoint, addSale, sound } from '../support/edition-facts.ts'

const checkedEdition = { id: 'edt_1', organization_id: 'org_1', full_name: 'Nordlys 2026' }

describe('the status of the healthcheck', () => {
  const verdict = (...changes: Change[]) => {
    const results = runChecks({ ...sound, ...combineChanges(...changes)(sound) })
    const summary = countFailures(results)
    return [getHealthStatus(summary), summary, listObstacles(results).map(({ check }) => check.id)]
  }

  it('is the severity of the worst failed check', () => {
    expect(verdict(() => ({ has_event: false, has_pickup_point: false, order_currencies: ['eur'] }))).toEqual([
      'critical',
      { critical: 1, warning: 1, info: 1 },
      ['basics.event_linked'],
    ])
    expect(verdict(() => ({ has_pickup_point: false, order_currencies: ['eur'] }))).toEqual([
      'warning',
      { critical: 0, warning: 1, info: 1 },
      [],
    ])
  })

  it('stays healthy when only informative checks fail', () => {
    expect(verdict(() => ({ order_currencies: ['eur'] }))).toEqual([
      'healthy',
      { critical: 0, warning: 0, info: 1 },
      [],
    ])
  })
})

describe('a check in the answer', () => {
  it('describes the passed state, or the fault and its remedy', () => {
    const answer = (change: Change) =>
      runChecks({ ...sound, ...change(sound) })
        .map((result) => presentCheck(result, checkedEdition))
        .find(({ check_id }) => check_id === 'products.price_present')
    expect(answer(() => ({}))).toEqual({
      category: 'products',
      check_id: 'products.price_present',
      severity: 'warning',
      passed: true,
      message: 'Published products have a price.',
      suggestion: '',
      related_objects: [],
    })
    expect(answer(addSale({ price_minor: null }))).toMatchObject({
      passed: false,
      message: 'A published product has no price.',
      suggestion: expect.stringContaining('Set a price'),
      related_objects: [
        {
          id: 'prd_1',
          name: 'Day ticket',
          type: 'product',
          operation: 'updateProduct',
          path: '/v1/products/prd_1',
        },
      ],
    })
  })

  it('names at most twenty resources, and none that the caller may not see', () => {
    const endpoints = Array.from({ length: 50 }, (_, index) => ({
      ...endpoint,
      id: `whk_${index}`,
      has_exhausted: true,
      is_hidden: index % 2 === 0,
    }))
    const check = runChecks({ ...sound, endpoints })
      .map((result) => presentCheck(result, checkedEdition))
      .find(({ check_id }) => check_id === 'integrations.webhooks_healthy')
    expect(check?.passed).toBe(false)
    expect(check?.related_objects).toHaveLength(20)
    expect(check?.related_objects[0]).toEqual({
      id: 'whk_1',
      name: 'Shop',
      type: 'webhook_endpoint',
      operation: 'recoverWebhookDeliveries',
      path: '/v1/webhooks/whk_1/recover',
    })
    const hidden = runChecks({ ...sound, endpoints: [{ ...endpoint, has_exhausted: true, is_hidden: true }] })
      .map((result) => presentCheck(result, checkedEdition))
      .find(({ check_id }) => check_id === 'integrations.webhooks_healthy')
    expect(hidden).toMatchObject({ passed: false, related_objects: [] })
  })
})
