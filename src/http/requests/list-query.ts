import { z } from '@hono/zod-openapi'
import { fromBase64, toBase64Url, utf8, crc32 } from '../../domain/text/encoding.ts'
import { Count, Instant } from '../fields.ts'
import { isStorable } from '../../domain/text/text.ts'
import type { KeyValue, OrderBy, Page, PageRequest } from '../../domain/page.ts'

export const defaultPageSize = 100
const maxPageSize = 500

const PageNumber = z
  .string()
  .optional()
  .transform((text, context) => {
    if (text === undefined) return 1
    const page = /^\d{1,9}$/.test(text) ? Number(text) : 0
    if (page >= 1) return page
    context.addIssue({ code: 'custom', params: { code: 'invalid_page' }, message: 'Invalid page.' })
    return z.NEVER
  })
  .openapi({
    type: 'integer',
    minimum: 1,
    maximum: 999_999_999,
    description: 'Page number, from 1. A page past the end is 404 `invalid_page`.',
    example: 1,
  })

const PageSize = z
  .string()
  .regex(/^0*[1-9]\d*$/, 'A whole number from 1.')
  .optional()
  .transform((text) => (text === undefined ? defaultPageSize : Math.min(Number(text), maxPageSize)))
  .openapi({
    type: 'integer',
    minimum: 1,
    description: `Items on a page: ${defaultPageSize} by default, at most ${maxPageSize}; larger values are clamped.`,
    example: defaultPageSize,
  })

const Cursor = z
  .string()
  .refine((text) => readCursor(text) !== null, {
    params: { code: 'invalid_cursor' },
    message: 'Take the cursor from `next` as it stands there.',
  })
  .optional()
  .openapi({
    description:
      'Comes with `next`: walking by `next` costs the same on every page. Optional; `page` alone always works.',
  })

export const BooleanFilter = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], error: 'One of true, false, 1, 0.' })
  .openapi({ type: 'boolean' })

/** A time with `Z` or an offset; a `+` that a client forgot to encode arrives as a space. */
export const InstantFilter = z
  .preprocess((text) => (typeof text === 'string' ? text.replace(' ', '+') : text), Instant)
  .openapi({
    type: 'string',
    format: 'date-time',
    example: '2026-06-01T10:00:00+02:00',
  })

export const IdFilter = z.string().max(64)

/** A contains-filter. It is folded, so case and accents do not matter. White space around it is removed; alone it is no filter. */
export const TextFilter = z
  .string()
  .trim()
  .max(254)
  .transform((text) => text || undefined)

function Ordering<const Names extends readonly [string, ...string[]]>(names: Names) {
  const choices = names.flatMap((name) => [name, `-${name}`])
  return z
    .string()
    .optional()
    .transform((text, context): OrderBy<Names[number]>[] => {
      const asked = [...new Set((text ?? '').split(',').map((part) => part.trim()))].filter((part) => part !== '')
      const unknown = asked.filter((part) => !choices.includes(part))
      if (unknown.length) {
        const message = `Unknown ordering ${unknown.slice(0, 3).join(', ').slice(0, 100)}; one of ${choices.join(', ')}.`
        context.addIssue({ code: 'custom', params: { code: 'invalid_choice' }, message })
      }
      return asked.map((part) => ({ name: part.replace(/^-/, ''), desc: part.startsWith('-') }))
    })
    .openapi({
      type: 'array',
      items: { type: 'string', enum: choices },
      param: { style: 'form', explode: false },
      description: `Keys separated by commas, or the parameter repeated; a leading \`-\` turns the order round. Keys: ${names.join(', ')}.`,
      example: [`-${names[0]}`],
    })
}

/** The query of a list: the group's filters, its orderings, and pages. `fixedSize` leaves `page_size` out. */
export function listQuery<const Names extends readonly [string, ...string[]], Filters extends z.ZodRawShape>(options: {
  ordering: Names
  filters: Filters
  fixedSize?: boolean
}) {
  const size = options.fixedSize ? {} : { page_size: PageSize }
  return z.object({
    ...options.filters,
    ordering: Ordering(options.ordering),
    page: PageNumber,
    ...size,
    cursor: Cursor,
  })
}

type PageName = 'page' | 'page_size' | 'cursor'

/** What a list is asked for, by its query: its filters and its ordering. */
export type ListRequest<Query extends z.ZodType> = Omit<z.output<Query>, PageName>

export type ListFilters<Query extends z.ZodType> = Omit<ListRequest<Query>, 'ordering'>

/** The filters that a request has, without its ordering and its page. */
export function pickFilters<Query extends z.ZodType>(query: z.output<Query>): ListFilters<Query> {
  const asked = query as Record<PageName | 'ordering', unknown>
  const { ordering: _ordering, page: _page, page_size: _size, cursor: _cursor, ...filters } = asked
  return filters as ListFilters<Query>
}

interface PageQuery {
  page: number
  page_size?: number
  cursor?: string | undefined
}

/** Identifies the query of a cursor: a cursor is valid for the query whose `next` contained it. A digest keeps links short. */
function bindingOf(url: URL, page: number): number {
  const rest = [...url.searchParams]
    .filter(([name]) => name !== 'page' && name !== 'cursor')
    .map((parameter) => JSON.stringify(parameter))
    .toSorted()
  return crc32(utf8(JSON.stringify([page, rest])))
}

interface CursorContent {
  for: number
  after: KeyValue[]
}

function readCursor(text: string): CursorContent | null {
  try {
    const content: unknown = JSON.parse(
      new TextDecoder().decode(fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))),
    )
    return isCursorContent(content) ? content : null
  } catch {
    return null
  }
}

const isKey = (key: unknown): key is KeyValue =>
  typeof key === 'string' ? isStorable(key) : key === null || (typeof key === 'number' && Number.isFinite(key))

const isCursorContent = (content: unknown): content is CursorContent => {
  if (typeof content !== 'object' || content === null) return false
  const { for: binding, after } = content as Partial<CursorContent>
  return typeof binding === 'number' && Array.isArray(after) && after.every(isKey)
}

export function readPageRequest(query: PageQuery, url: URL): PageRequest {
  const cursor = query.cursor === undefined ? null : readCursor(query.cursor)
  const after = cursor?.for === bindingOf(url, query.page) ? cursor.after : null
  return { page: query.page, size: query.page_size ?? defaultPageSize, after }
}

/** Absolute addresses of the neighbouring pages with every other parameter kept; `previous` of page 2 has no `page`. */
export function buildPageLinks(page: Page<unknown>, url: URL): { next: string | null; previous: string | null } {
  const link = (change: (parameters: URLSearchParams) => void) => {
    const target = new URL(url)
    target.searchParams.delete('cursor')
    target.searchParams.delete('page')
    change(target.searchParams)
    return target.href
  }
  const { after } = page
  return {
    next:
      after &&
      link((parameters) => {
        const content: CursorContent = { for: bindingOf(url, page.page + 1), after }
        parameters.set('page', String(page.page + 1))
        parameters.set('cursor', toBase64Url(utf8(JSON.stringify(content))))
      }),
    previous:
      (page.hasPrevious ?? page.page > 1)
        ? link((parameters) => {
            if (page.page > 2) parameters.set('page', String(page.page - 1))
          })
        : null,
  }
}

/** A page of a list; `maxItems` if its size is fixed. */
export const ListPage = <Item extends z.ZodType>(item: Item, maxItems = maxPageSize) =>
  z.object({
    count: Count.openapi({ description: 'Items in the whole list, exact.', example: 1 }),
    next: z.string().nullable().openapi({ description: 'Address of the next page; null on the last.' }),
    previous: z.string().nullable().openapi({
      description: 'Address of the page before. Null on the first page, and where that page is too far for its number.',
    }),
    results: z.array(item).max(maxItems),
  })
