import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Page } from '../../src/domain/page.ts'
import { buildPageLinks, readPageRequest } from '../../src/http/requests/list-query.ts'

const text = fc.string({ unit: 'binary', maxLength: 20 }).filter((value) => !value.includes('\0'))
const parameters = fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), text, { maxKeys: 4 }).map((record) => {
  const { page: _, cursor: __, ...rest } = record
  return rest
})
const keys = fc.array(fc.oneof(text, fc.integer()), { minLength: 1, maxLength: 4 })

const pageOf = (page: number, after: Page<unknown>['after']): Page<unknown> => ({
  rows: [],
  count: 0,
  page,
  size: 10,
  after,
})

const buildUrl = (query: Record<string, string>) =>
  new URL(`https://api.example/v1/things?${new URLSearchParams(query).toString()}`)

const encoded = (json: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(json)))

describe('the links of a page', () => {
  it('begin after its last row', () => {
    fc.assert(
      fc.property(parameters, keys, fc.integer({ min: 1, max: 1e6 }), (query, after, page) => {
        const { next } = buildPageLinks(pageOf(page, after), buildUrl(query))
        const url = new URL(next ?? '')
        expect(readPageRequest({ page: page + 1, cursor: url.searchParams.get('cursor') ?? '' }, url).after).toEqual(
          after,
        )
        for (const [name, value] of Object.entries(query)) expect(url.searchParams.get(name)).toBe(value)
        expect(url.searchParams.get('page')).toBe(String(page + 1))
      }),
    )
  })

  it('are invalid for another page, ordering or filter', () => {
    fc.assert(
      fc.property(parameters, keys, text, (query, after, other) => {
        const url = new URL(buildPageLinks(pageOf(1, after), buildUrl(query)).next ?? '')
        const cursor = url.searchParams.get('cursor') ?? ''
        expect(readPageRequest({ page: 3, cursor }, url).after).toBeNull()
        url.searchParams.append('ordering', other)
        expect(readPageRequest({ page: 2, cursor }, url).after).toBeNull()
      }),
    )
  })

  it('lead back to the page before, and from the second page to the list without a cursor', () => {
    const previous = (page: number) =>
      buildPageLinks(pageOf(page, null), buildUrl({ a: '1', page: String(page), cursor: 'x' })).previous
    expect([previous(1), previous(2), previous(3)]).toEqual([
      null,
      'https://api.example/v1/things?a=1',
      'https://api.example/v1/things?a=1&page=2',
    ])
    expect(buildPageLinks(pageOf(5, null), buildUrl({})).next).toBeNull()
  })

  it('accept any text as a cursor without a fault', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json().map(encoded)), (cursor) => {
        expect(readPageRequest({ page: 2, cursor }, buildUrl({})).after).toBeNull()
      }),
    )
  })
})
