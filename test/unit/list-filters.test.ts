import { z } from '@hono/zod-openapi'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sortedFilters } from '../../src/db/lists/filters.ts'
import { filtersOf, listQuery } from '../../src/http/requests/list-query.ts'

const filters = fc.dictionary(
  fc.constantFrom('edition_id', 'status', 'search', 'is_used', 'created_after'),
  fc.option(fc.oneof(fc.constantFrom('a', 'b', ''), fc.boolean(), fc.integer({ min: 0, max: 2 })), { nil: undefined }),
)
const keyOf = (asked: object): string => JSON.stringify(sortedFilters(asked))

describe('the filters that hits are kept for', () => {
  it('are the same in any order, and with filters that have no value', () => {
    fc.assert(
      fc.property(filters, (asked) => {
        const turned = Object.fromEntries(Object.entries(asked).toReversed())
        const given = Object.entries(asked).filter(([, value]) => value !== undefined)
        expect(keyOf(turned)).toBe(keyOf(asked))
        expect(keyOf(Object.fromEntries(given))).toBe(keyOf(asked))
      }),
    )
  })

  it('are others where any filter has another value', () => {
    fc.assert(
      fc.property(filters, filters, (one, other) => {
        const names = new Set([...Object.keys(one), ...Object.keys(other)])
        const areSame = [...names].every((name) => one[name] === other[name])
        expect(keyOf(one) === keyOf(other)).toBe(areSame)
      }),
    )
  })

  it('have neither the ordering nor the page', () => {
    const query = listQuery({ ordering: ['created'], filters: { status: z.string().optional() } })
    const asked = query.parse({ status: 'a', ordering: '-created', page: '3', page_size: '7' })
    expect(filtersOf<typeof query>({ ...asked, cursor: 'x' })).toEqual({ status: 'a' })
  })
})
