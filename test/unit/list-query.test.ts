import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Page } from '../../src/domain/page.ts'
import { buildPageLinks, readPageRequest, type RequestedList } from '../../src/http/requests/list-query.ts'

const text = fc.string({ unit: 'binary', maxLength: 20 }).filter((value) => !value.includes('\0'))
const parameters = fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), text, { maxKeys: 4 }).map((record) => {
  const { page: _, page_size: __, cursor: ___, ordering: ____, ...rest } = record
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

const organizationIds = ['org_a']

/** Builds a request for a list, with other parameters or of other organisations. */
function buildRequest(query: Record<string, string>, more: Partial<RequestedList> = {}): RequestedList {
  const { page = '1', ...rest } = query
  const url = new URL(`https://api.example/v1/things?${new URLSearchParams(query).toString()}`)
  return { url, organizationIds, query: { ...rest, page: Number(page) }, ...more }
}

const follow = (next: string | null, change: Record<string, string> = {}, more?: Partial<RequestedList>) => {
  const query = { ...Object.fromEntries(new URL(next ?? '').searchParams), ...change }
  return readPageRequest(buildRequest(query, more))
}

const refusal: unknown = expect.objectContaining({
  code: 'validation_error',
  errors: [expect.objectContaining({ code: 'invalid_cursor', attr: 'cursor' })],
})

const encoded = (json: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(json)))

describe('the links of a page', () => {
  it('begin after its last row, also with another page size', () => {
    fc.assert(
      fc.property(parameters, keys, fc.integer({ min: 1, max: 1e6 }), (query, after, page) => {
        const { next } = buildPageLinks(pageOf(page, after), buildRequest(query))
        expect(follow(next)).toMatchObject({ page: page + 1, after })
        expect(follow(next, { page_size: '7' })).toMatchObject({ page: page + 1, after })
        const { searchParams } = new URL(next ?? '')
        for (const [name, value] of Object.entries(query)) expect(searchParams.get(name)).toBe(value)
        expect(searchParams.get('page')).toBe(String(page + 1))
        searchParams.delete('page')
        expect(readPageRequest(buildRequest(Object.fromEntries(searchParams)))).toMatchObject({ page: page + 1, after })
      }),
    )
  })

  it('are invalid for another page, ordering or filter, another list, and other organisations', () => {
    fc.assert(
      fc.property(parameters, keys, text, (query, after, other) => {
        const { next } = buildPageLinks(pageOf(1, after), buildRequest(query))
        const elsewhere = new URL('https://api.example/v1/others')
        for (const [change, more] of [
          [{ page: '3' }],
          [{ ordering: `-${other}` }],
          [{ another_filter: other }],
          [{}, { url: elsewhere }],
          [{}, { organizationIds: null }],
          [{}, { organizationIds: ['org_b'] }],
        ] as const)
          expect(() => follow(next, change, more)).toThrow(refusal)
      }),
    )
  })

  it('lead back to the page before, and from the second page to the list without a cursor', () => {
    const previous = (page: number) =>
      buildPageLinks(pageOf(page, null), buildRequest({ a: '1', page: String(page), cursor: 'x' })).previous
    expect([previous(1), previous(2), previous(3)]).toEqual([
      null,
      'https://api.example/v1/things?a=1',
      'https://api.example/v1/things?a=1&page=2',
    ])
    expect(buildPageLinks(pageOf(5, null), buildRequest({})).next).toBeNull()
  })

  it('refuse any other text as a cursor', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json().map(encoded)), (cursor) => {
        expect(() => readPageRequest(buildRequest({ page: '2', cursor }))).toThrow(refusal)
      }),
    )
  })
})
