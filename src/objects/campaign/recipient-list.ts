import { type SQL, sql } from 'drizzle-orm'
import { inList } from '../../db/conditions.ts'
import { renderStatement } from '../../db/database.ts'
import {
  buildDirection,
  buildIsAfter,
  joinConditions,
  joinList,
  keyName,
  maxIndexedOffset,
  maxSortedOffset,
  type SortKey,
} from '../../db/paginate.ts'
import { containsTerms } from '../../db/search.ts'
import type {
  RecipientFilters,
  RecipientSearch,
  RecipientsPage,
  RecipientsQuery,
} from '../../domain/campaigns/sender.ts'
import type { Engagement } from '../../domain/campaigns/sending-policy.ts'

const sortColumns: Record<RecipientsQuery['ordering'][number]['name'], Omit<SortKey, 'desc'>> = {
  address: { column: sql`address`, isNullable: true },
  sent_at: { column: sql`sent_at`, isNullable: true },
}

const engagementConditions: Record<Engagement, SQL> = {
  delivered: sql`delivered_at is not null`,
  opened: sql`opened_at is not null`,
  not_opened: sql`state = 'sent' and bounced_at is null and opened_at is null`,
  clicked: sql`clicked_at is not null`,
  not_clicked: sql`state = 'sent' and bounced_at is null and clicked_at is null`,
  bounced: sql`bounced_at is not null`,
  complained: sql`complained_at is not null`,
  unsubscribed: sql`unsubscribed_at is not null`,
}

const hasClicked = (link: number): SQL =>
  sql`exists (select 1 from link_clicks where link_clicks.n = recipients.n and link = ${link} and times <> '[]')`

function buildEngagementConditions({ engagement, link }: RecipientFilters): SQL[] {
  if (link !== undefined && engagement === 'not_clicked')
    return [sql`state = 'sent' and bounced_at is null and not ${hasClicked(link)}`]
  return [...(engagement ? [engagementConditions[engagement]] : []), ...(link === undefined ? [] : [hasClicked(link)])]
}

const buildSearchCondition = (search: RecipientSearch): SQL =>
  sql`(${inList(sql`user_id`, search.user_ids)} or ${
    'terms' in search ? containsTerms(sql`search_text`, search.terms) : inList(sql`n`, search.numbers)
  })`

const buildConditions = ({ search, state, reason, ...filters }: RecipientFilters): SQL[] => [
  ...(search ? [buildSearchCondition(search)] : []),
  ...(state ? [sql`state = ${state}`] : []),
  ...(reason ? [sql`reason = ${reason}`] : []),
  ...buildEngagementConditions(filters),
]

/**
 * Builds the keys of the requested ordering; the number is always the last. With filters, `+` keeps SQLite from walking
 * the index of the ordering, which would look up every recipient in the table to find a few.
 */
const buildKeys = (ordering: RecipientsQuery['ordering'], isFiltered: boolean): SortKey[] => [
  ...ordering.map(({ name, desc }): SortKey => {
    const { column, ...key } = sortColumns[name]
    return { ...key, column: isFiltered ? sql`+${column}` : column, desc }
  }),
  { column: sql`n`, desc: ordering.at(-1)?.desc ?? false },
]

/**
 * Selects one page of a campaign's recipients and counts all that match. Nothing changes between the two statements,
 * because nothing is awaited.
 */
export function selectRecipients(storage: SqlStorage, query: RecipientsQuery): RecipientsPage {
  const { page, size, after } = query.page
  const conditions = buildConditions(query)
  const isFiltered = conditions.length > 0
  const keys = buildKeys(query.ordering, isFiltered)
  const offset = after ? 0 : (page - 1) * size
  const isIndexed = query.ordering.length === 0 || (query.ordering.length === 1 && !isFiltered)
  const maxOffset = isIndexed ? maxIndexedOffset : maxSortedOffset
  const where = joinConditions(conditions)
  const pageWhere = after ? sql`${buildIsAfter(keys, after)} and ${where}` : where
  const pageKeys = keys.map((_, index) => sql`page.${keyName(index)}`)
  const pageOrder = keys.map((key, index) => buildDirection({ ...key, column: sql`page.${keyName(index)}` }))
  const all = <Row>(statement: SQL<Row>): Row[] => {
    const { text, values } = renderStatement(statement)
    return storage.exec(text, ...(values as SqlStorageValue[])).toArray() as Row[]
  }
  // A recipient's row is long, so the inner query sorts the keys alone.
  const rows = all(sql<RecipientsPage['rows'][number]>`
    with page as (
      select ${joinList(keys.map(({ column }, index) => sql`${column} as ${keyName(index)}`))}, n as id
      from recipients
      where ${pageWhere}
      order by ${joinList(keys.map(buildDirection))}
      limit ${offset > maxOffset ? 0 : size + 1} offset ${offset}
    )
    select ${joinList(pageKeys)}, recipients.*
    from page cross join recipients on recipients.n = page.id
    order by ${joinList(pageOrder)}`)
  const [total] = all(sql<{ n: number }>`select count(*) as n from recipients where ${where}`)
  return { rows, count: total?.n ?? 0, maxOffset }
}
