import { type SQL, sql } from 'drizzle-orm'
import { selectLatestSeq, inEditions } from '../../../db/customers.ts'
import type { Ctx } from '../../../context.ts'
import type { Database } from '../../../db/database.ts'
import { decodeAs, fromJson, buildSelectList } from '../../../db/select.ts'
import { inList } from '../../../db/visibility.ts'
import { answerStatuses } from '../../../domain/consents/consents.ts'
import { parameterError } from '../../../domain/errors.ts'
import { orderStatuses, orderTypes } from '../../../domain/orders/orders.ts'
import { purchaseStatuses } from '../../../domain/orders/purchases.ts'
import { givenAmong, givenCount } from '../../consents/index.ts'
import { editionsOf, type SegmentTenant } from '../calculation/audience.ts'
import { type KnownValue, type ValueKind, valuesShown } from './cel-contract.ts'
import { type TenantInput, findTenant } from '../tenant.ts'

export type KnownValues = Record<ValueKind, KnownValue[]>

/** Values are counted among so many orders and people, so that the answer costs the same however many there are. */
const newest = 10_000

/** Holds for rows of the visible editions. */
const isVisible = (edition: SQL, tenant: SegmentTenant): SQL => {
  const editions = editionsOf(tenant)
  const [only] = editions ?? []
  if (editions?.length === 1) return sql`${edition} = ${only}`
  return editions === null ? sql`1` : inList(edition, editions)
}

/** The editions that products, locations and the like are looked up in. */
const editionsIn = (tenant: SegmentTenant): SQL =>
  sql`(select id from editions where ${isVisible(sql`id`, tenant)} and organization_id = ${tenant.organization_id})`

const counted = (id: SQL, column: string): SQL =>
  sql`(select count(*) from bought where bought.${sql.raw(column)} = ${id})`

/** Rows of `value`, `label` and `count` for each kind that has a table. */
function sources(tenant: SegmentTenant): Record<Exclude<ValueKind, StaticKind>, SQL> {
  const editions = editionsIn(tenant)
  const isWhole = editionsOf(tenant) === null
  const own = sql`organization_id = ${tenant.organization_id}`
  const ofVisible = isVisible(sql`edition_id`, tenant)
  const ofProduct = (table: string, counts: SQL) => sql`select ${sql.raw(table)}.id as value,
    products.name || ': ' || ${sql.raw(table)}.name as label, ${counts} as count
    from products join ${sql.raw(table)} on ${sql.raw(table)}.product_id = products.id
    where products.edition_id in ${editions}`
  return {
    products: sql`select id as value, name as label, ${counted(sql`products.id`, 'product_id')} as count
      from products where edition_id in ${editions}`,
    variants: ofProduct('variants', counted(sql`variants.id`, 'variant_id')),
    locations: sql`select id as value, name as label, ${counted(sql`locations.id`, 'location_id')} as count
      from locations where edition_id in ${editions}`,
    options: ofProduct('options', sql`(select count(*) from chosen where chosen.id = options.id)`),
    consents: sql`select key as value, name as label, ${isWhole ? givenCount(sql`consents`) : givenAmong(sql`people`, sql`consents`)} as count
      from consents where ${own} and (edition_id is null or ${ofVisible})`,
    locales: sql`select locale as value, locale as label, count(*) as count from people group by locale`,
    editions: sql`select id as value, full_name as label,
        (select count(*) from placed where placed.edition_id = editions.id) as count
      from editions where id in ${editions}`,
    currencies: sql`select currency as value, currency as label, count(*) as count from placed group by currency`,
    campaigns: sql`select id as value, name as label, total_recipients as count from campaigns
      where ${own} and ${ofVisible}`,
  }
}

const statics = {
  order_statuses: { values: orderStatuses, count: sql`select status as value, count(*) as n from placed group by 1` },
  order_types: { values: orderTypes, count: sql`select type as value, count(*) as n from placed group by 1` },
  purchase_statuses: {
    values: purchaseStatuses,
    count: sql`select status as value, count(*) as n from bought group by 1`,
  },
  consent_statuses: { values: answerStatuses, count: sql`select null as value, 0 as n` },
} satisfies Record<string, { values: readonly string[]; count: SQL }>

type StaticKind = keyof typeof statics

const staticSource = ({ values, count }: { values: readonly string[]; count: SQL }): SQL =>
  sql`select given.value, given.value as label, coalesce(n, 0) as count
    from json_each(${JSON.stringify(values)}) as given left join (${count}) as counts on counts.value = given.value`

/** Keys of the newest rows of each visible edition, so that several cost no more than as many single ones. */
const newestOfEach = (tenant: SegmentTenant, key: string, newestRows: SQL): SQL =>
  sql`select distinct k.value as ${sql.raw(key)} from json_each(${JSON.stringify(editionsOf(tenant))}) as e
    cross join json_each((select json_group_array(${sql.raw(key)}) from (${newestRows} limit ${newest}))) as k`

/** The newest visible people, with the language that the visible editions know of them. */
function newestPeople(tenant: SegmentTenant): SQL {
  const editions = editionsOf(tenant)
  if (editions === null)
    return sql`select locale from users where organization_id = ${tenant.organization_id}
      order by created_at desc, seq desc limit ${newest}`
  const latest = sql`seen.seq = ${selectLatestSeq(sql`users.seq`, editions)}`
  return sql`select users.id, seen.locale from edition_customers as seen cross join users on users.seq = seen.user_seq
    where ${inEditions(sql`seen.edition_id`, editions)} ${editions.length === 1 ? sql`` : sql`and ${latest}`}
    order by seen.created_at desc, seen.seq desc limit ${newest}`
}

/** The editions of the visible orders. */
function placedIn(tenant: SegmentTenant): SQL {
  const editions = editionsOf(tenant)
  if (editions === null) return sql`organization_id = ${tenant.organization_id}`
  if (editions.length === 1) return sql`edition_id = ${editions[0]}`
  const each = sql`select seq from orders where edition_id = e.value order by created_at desc, seq desc`
  return sql`seq in (${newestOfEach(tenant, 'seq', each)})`
}

const recent = (tenant: SegmentTenant): SQL =>
  sql`with placed as materialized (select id, status, type, currency, edition_id from orders where ${placedIn(tenant)}
      order by created_at desc, seq desc limit ${newest}),
    bought as materialized (select p.product_id, p.variant_id, p.location_id, p.options, p.status
      from placed cross join purchases as p on p.order_id = placed.id),
    chosen as materialized (select json_each.value ->> 'api_id' as id from bought, json_each(bought.options)
      where bought.options <> '[]'),
    people as materialized (${newestPeople(tenant)})`

/** The most frequent values of each kind at this tenant, in one statement. */
export async function knownValues(db: Database, tenant: SegmentTenant): Promise<KnownValues> {
  const all: Record<string, SQL> = {
    ...sources(tenant),
    ...Object.fromEntries(Object.entries(statics).map(([kind, source]) => [kind, staticSource(source)])),
  }
  const lists = Object.entries(all).map(([kind, source]) => [
    kind,
    fromJson<KnownValue[]>(sql`(select json_group_array(json_object('value', value, 'label', label, 'count', count))
      from (select value, label, count from (${source}) order by count desc, label, value limit ${valuesShown}))`),
  ])
  const fields = Object.fromEntries(lists) as Record<ValueKind, SQL<KnownValue[]>>
  const row = await db.first(decodeAs(fields, sql<KnownValues>`${recent(tenant)} select ${buildSelectList(fields)}`))
  if (!row) throw new Error('a select without a table answers one row')
  return row
}

/** The values or names of these that do not occur, for lists of known ones that are incomplete. */
export async function missingValues(
  db: Database,
  tenant: SegmentTenant,
  asked: { kind: ValueKind; by: 'value' | 'label'; values: readonly string[] },
): Promise<string[]> {
  const { kind, by, values } = asked
  if (Object.hasOwn(statics, kind)) return [...values]
  const source = sources(tenant)[kind as Exclude<ValueKind, StaticKind>]
  const found = await db.all(
    sql<{ found: string }>`${recent(tenant)} select ${sql.raw(by)} as found from (${source})
      where ${inList(sql.raw(by), values)}`,
  )
  return values.filter((value) => !found.some((row) => row.found === value))
}

export const knownValuesFor = async (ctx: Ctx, asked: TenantInput): Promise<KnownValues> =>
  knownValues(ctx.db, await findTenant(ctx, asked, parameterError))
