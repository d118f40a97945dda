import { z } from '@hono/zod-openapi'
import type { Caller } from '../../domain/accounts/access.ts'
import { invalidCursor } from '../../domain/errors.ts'
import type { KeyValue, OrderBy, Page, PageRequest } from '../../domain/page.ts'
import { fromBase64, toBase64Url, utf8, crc32 } from '../../domain/text/encoding.ts'
import { cleanKey } from '../../domain/text/invisible.ts'
import { isStorable } from '../../domain/text/text.ts'
import { Count, Instant } from '../fields.ts'

export const defaultPageSize = 100
const maxPageSize = 500
const maxPage = 999_999_999

const PageNumber = z
  .string()
  .optional()
  .transform((text, context) => {
    if (text === undefined) return 1
    const page = /^\d{1,9}$/.test(text) ? Number(text) : 0
    if (page >= 1) return page
    context.addIssue({
      code: 'custom',
      params: { code: 'invalid_page' },
      message: 'There is no such page. `page` must be a whole number from 1 to the last page of the list.',
    })
    return z.NEVER
  })
  .openapi({
    type: 'integer',
    minimum: 1,
    maximum: maxPage,
    description: 'The page number, from 1. You get 404 `invalid_page` past the last page.',
    example: 1,
  })

const PageSize = z
  .string()
  .regex(/^0*[1-9]\d*$/, 'Must be a whole number from 1.')
  .optional()
  .transform((text) => (text === undefined ? defaultPageSize : Math.min(Number(text), maxPageSize)))
  .openapi({
    type: 'integer',
    minimum: 1,
    description: `Items per page: ${defaultPageSize} by default, at most ${maxPageSize}. Larger values count as ${maxPageSize}.`,
    example: defaultPageSize,
  })

const Cursor = z
  .string()
  .refine((text) => readCursor(text) !== null, {
    params: { code: 'invalid_cursor' },
    message: 'Use the cursor from `next` unchanged.',
  })
  .optional()
  .openapi({
    description:
      'The position of the page. `next` contains it, so that every page is equally fast. A cursor is valid with the filters and the ordering of its `next`; only `page_size` may change. Either `cursor` or `page` also works alone.',
  })

export const BooleanFilter = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0'], error: 'Must be true, false, 1 or 0.' })
  .openapi({ type: 'boolean' })

/** A time with `Z` or an offset. A `+` that the client did not encode arrives as a space. */
export const InstantFilter = z
  .preprocess((text) => (typeof text === 'string' ? text.replace(' ', '+') : text), Instant)
  .openapi({
    type: 'string',
    format: 'date-time',
    example: '2026-06-01T10:00:00+02:00',
  })

export const IdFilter = z.string().overwrite(cleanKey).max(64)

/** A text to search for, without regard to case and accents. White space alone does not filter. */
export const TextFilter = z
  .string()
  .overwrite(cleanKey)
  .max(254)
  .transform((text) => text || undefined)

/** A parameter of `Choices` in the OpenAPI document. */
export const describeChoices = (words: readonly [string, ...string[]]) => ({
  type: 'array' as const,
  minItems: 1,
  maxItems: words.length,
  items: { type: 'string' as const, enum: [...words] },
  param: { style: 'form' as const, explode: false },
})

/** One or more words, separated by commas. */
export const Choices = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z
    .string()
    .transform((text, context): readonly Words[number][] => {
      const names = [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '')
      const choices = names.filter((name): name is Words[number] => words.includes(name))
      if (choices.length === names.length && choices.length > 0) return choices
      context.addIssue({
        code: 'custom',
        params: { code: 'invalid_choice' },
        message: `Use one or more of ${words.join(', ')}.`,
      })
      return z.NEVER
    })
    .openapi({ ...describeChoices(words), example: [words[0]] })

/** Names the unknown sort keys, and the keys that the list has. */
function buildOrderingError(unknownNames: readonly string[], choices: readonly string[]): string {
  const names = unknownNames.slice(0, 3).map((name) => `\`${name.slice(0, 50)}\``)
  const keys = choices.map((name) => `\`${name}\``)
  const what = names.length === 1 ? `${names[0]} is not a sort key` : `${names.join(', ')} are not sort keys`
  return `${what} of this list. Use ${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}.`
}

/** Sort keys whose texts `buildSortKey` compares. */
const textKeys: readonly string[] = ['name', 'title', 'product']

function Ordering<const Names extends readonly [string, ...string[]]>(names: Names) {
  const choices = names.flatMap((name) => [name, `-${name}`])
  const texts = names
    .filter((name) => textKeys.includes(name))
    .map((name) => ` \`${name}\` is compared without case and accents, and numbers in it as numbers.`)
  return z
    .string()
    .optional()
    .transform((text, context): OrderBy<Names[number]>[] => {
      const requestedNames = [...new Set((text ?? '').split(',').map((part) => part.trim()))].filter(
        (part) => part !== '',
      )
      const unknownNames = requestedNames.filter((part) => !choices.includes(part))
      if (unknownNames.length) {
        const message = buildOrderingError(unknownNames, choices)
        context.addIssue({ code: 'custom', params: { code: 'invalid_choice' }, message })
      }
      return requestedNames.map((part) => ({ name: part.replace(/^-/, ''), desc: part.startsWith('-') }))
    })
    .openapi({
      type: 'array',
      maxItems: choices.length,
      items: { type: 'string', enum: choices },
      param: { style: 'form', explode: false },
      description: `Sort keys, separated by commas or in repeated parameters: ${names.join(', ')}. A leading \`-\` sorts descending.${texts.join('')}`,
      example: [`-${names[0]}`],
    })
}

/** The query parameters of a list: its filters, sort keys and pages. With `fixedSize` it has no `page_size`. */
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

/** The filters and the ordering of a list query. */
export type ListRequest<Query extends z.ZodType> = Omit<z.output<Query>, PageName>

export function pickListRequest<Query extends z.ZodType>(query: z.output<Query>): ListRequest<Query> {
  const { page: _page, page_size: _size, cursor: _cursor, ...request } = query as Record<PageName, unknown>
  return request as ListRequest<Query>
}

/** The list that a request reads. A cursor is valid for the list that it was made for. */
export interface RequestedList {
  url: URL
  /** The organisations in which the caller has roles. Null stands for all. */
  organizationIds: readonly string[] | null
  /** The parsed query parameters. */
  query: {
    page: number
    page_size?: number
    cursor?: string | undefined
  }
}

export const listRequestedOrganizations = ({ is_superuser, grants }: Caller): string[] | null =>
  is_superuser ? null : [...new Set(grants.map(({ organization_id }) => organization_id))].toSorted()

/** A checksum of everything that a cursor is bound to. The page size is left out, because it may change between pages. */
function computeBinding({ url, organizationIds, query }: RequestedList, page: number): number {
  const { page: _page, page_size: _size, cursor: _cursor, ...filtersAndOrdering } = query
  return crc32(utf8(JSON.stringify([url.pathname, organizationIds, page, filtersAndOrdering])))
}

interface CursorContent {
  for: number
  /** The page that it leads to. */
  page: number
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
  const { for: binding, page, after } = content as Partial<CursorContent>
  const isPage = typeof page === 'number' && Number.isInteger(page) && page > 1 && page <= maxPage
  return typeof binding === 'number' && isPage && Array.isArray(after) && after.every(isKey)
}

/**
 * A cursor leads to its page, also without `page`. Throws `invalid_cursor` for the cursor of another list, another query
 * or another page.
 */
export function readPageRequest(list: RequestedList): PageRequest {
  const { page: requestedPage, page_size: size = defaultPageSize, cursor: text } = list.query
  if (text === undefined) return { page: requestedPage, size, after: null }
  const cursor = readCursor(text)
  const page = list.url.searchParams.has('page') ? requestedPage : cursor?.page
  if (page === undefined || cursor?.for !== computeBinding(list, page)) throw invalidCursor()
  return { page, size, after: cursor.after }
}

/** The URLs of the next and the previous page, with all other parameters of the request. */
export function buildPageLinks(
  page: Page<unknown>,
  list: RequestedList,
): { next: string | null; previous: string | null } {
  const link = (change: (parameters: URLSearchParams) => void) => {
    const target = new URL(list.url)
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
        const nextPage = page.page + 1
        const content: CursorContent = { for: computeBinding(list, nextPage), page: nextPage, after }
        parameters.set('page', String(nextPage))
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

const ListCount = Count.openapi('ListCount', {
  description: 'The exact number of items in the whole list.',
  example: 1,
})
const NextPage = z
  .string()
  .nullable()
  .openapi('NextPage', { description: 'The URL of the next page. Null on the last page.' })
const PreviousPage = z.string().nullable().openapi('PreviousPage', {
  description: 'The URL of the previous page. Null on the first page, and if the previous page is too deep for `page`.',
})

/** The schema of a page of a list. */
export const ListPage = <Item extends z.ZodType>(item: Item, maxItems = maxPageSize) =>
  z.object({
    count: ListCount,
    next: NextPage,
    previous: PreviousPage,
    results: z.array(item).max(maxItems),
  })
