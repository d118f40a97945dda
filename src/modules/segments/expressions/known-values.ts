import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { selectLatestSeq, inEditions } from '../../../db/customers.ts'
import type { Database } from '../../../db/database.ts'
import { decodeAs, fromJson, buildSelectList } from '../../../db/select.ts'
import { endStates, recipientReasons } from '../../../domain/campaigns/sending-policy.ts'
import type { ValueKind } from '../../../domain/cel/index.ts'
import { answerStatuses } from '../../../domain/consents/consents.ts'
import { parameterError } from '../../../domain/errors.ts'
import { orderStatuses, orderTypes } from '../../../domain/orders/orders.ts'
import { purchaseStatuses } from '../../../domain/orders/purchases.ts'
import { countGivenAmong, countGiven } from '../../consents/index.ts'
import { listEditionIds, type SegmentTenant } from '../calculation/audience.ts'
import { type TenantInput, findSegmentTenant } from '../tenant.ts'
import { type KnownValue, maxValuesListed } from './cel-contract.ts'

export type KnownValues = Record<ValueKind, KnownValue[]>

/** Values are counted among the newest orders and people, so that the cost does not grow with their number. */
const maxRowsCounted = 10_000

const isVisible = (edition: SQL, tenant: SegmentTenant): SQL => {
  const editions = listEditionIds(tenant)
  const [only] = editions ?? []
  if (editions?.length === 1) return sql`${edition} = ${only}`
  return editions === null ? sql`1` : inList(edition, editions)
}

const selectEditions = (tenant: SegmentTenant): SQL =>
  sql`(select id from editions where ${isVisible(sql`id`, tenant)} and organization_id = ${tenant.organization_id})`

const countPurchases = (id: SQL, column: string): SQL =>
  sql`(select count(*) from bought where bought.${sql.raw(column)} = ${id})`

/** Selects `value`, `label` and `count` of each kind that has a table. */
function buildSources(tenant: SegmentTenant): Record<Exclude<ValueKind, FixedKind>, SQL> {
  const editions = selectEditions(tenant)
  const isWhole = listEditionIds(tenant) === null
  const isInOrganization = sql`organization_id = ${tenant.organization_id}`
  const isInVisibleEdition = isVisible(sql`edition_id`, tenant)
  const selectOfProducts = (table: string, counts: SQL) => sql`select ${sql.raw(table)}.id as value,
    products.name || ': ' || ${sql.raw(table)}.name as label, ${counts} as count
    from products join ${sql.raw(table)} on ${sql.raw(table)}.product_id = products.id
    where products.edition_id in ${editions} and products.merged_into_id is null`
  return {
    products: sql`select id as value, name as label, ${countPurchases(sql`products.id`, 'product_id')} as count
      from products where edition_id in ${editions} and merged_into_id is null`,
    variants: selectOfProducts('variants', countPurchases(sql`variants.id`, 'variant_id')),
    locations: sql`select id as value, name as label, ${countPurchases(sql`locations.id`, 'location_id')} as count
      from locations where edition_id in ${editions}`,
    options: selectOfProducts('options', sql`(select count(*) from chosen where chosen.id = options.id)`),
    consents: sql`select key as value, name as label, ${isWhole ? countGiven(sql`consents`) : countGivenAmong(sql`people`, sql`consents`)} as count
      from consents where ${isInOrganization} and (edition_id is null or ${isInVisibleEdition})`,
    locales: sql`select locale as value, locale as label, count(*) as count from people group by locale`,
    editions: sql`select id as value, full_name as label,
        (select count(*) from placed where placed.edition_id = editions.id) as count
      from editions where id in ${editions}`,
    currencies: sql`select currency as value, currency as label, count(*) as count from placed group by currency`,
    campaigns: sql`select id as value, name as label, total_recipients as count from campaigns
      where ${isInOrganization} and ${isInVisibleEdition}`,
    campaign_links: sql`select url as value, url as label, count(*) as count
      from campaigns cross join campaign_links on campaign_id = campaigns.id
      where ${isInOrganization} and ${isInVisibleEdition} group by url`,
  }
}

const noCounts = sql`select null as value, 0 as n`

const fixedKinds = {
  order_statuses: { values: orderStatuses, count: sql`select status as value, count(*) as n from placed group by 1` },
  order_types: { values: orderTypes, count: sql`select type as value, count(*) as n from placed group by 1` },
  purchase_statuses: {
    values: purchaseStatuses,
    count: sql`select status as value, count(*) as n from bought group by 1`,
  },
  consent_statuses: { values: answerStatuses, count: noCounts },
  message_states: { values: endStates, count: noCounts },
  message_reasons: { values: recipientReasons, count: noCounts },
} satisfies Record<string, { values: readonly string[]; count: SQL }>

type FixedKind = keyof typeof fixedKinds

const buildFixedSource = ({ values, count }: { values: readonly string[]; count: SQL }): SQL =>
  sql`select listed.value, listed.value as label, coalesce(n, 0) as count
    from json_each(${JSON.stringify(values)}) as listed left join (${count}) as counts on counts.value = listed.value`

/** Selects keys of the newest rows of each visible edition, each through the index of its edition. */
const selectNewestOfEach = (tenant: SegmentTenant, key: string, newestRows: SQL): SQL =>
  sql`select distinct k.value as ${sql.raw(key)} from json_each(${JSON.stringify(listEditionIds(tenant))}) as e
    cross join json_each((select json_group_array(${sql.raw(key)}) from (${newestRows} limit ${maxRowsCounted}))) as k`

/** Selects the newest visible people, with the language that the visible editions have of them. */
function selectNewestPeople(tenant: SegmentTenant): SQL {
  const editions = listEditionIds(tenant)
  if (editions === null)
    return sql`select locale from users where organization_id = ${tenant.organization_id}
      order by created_at desc, seq desc limit ${maxRowsCounted}`
  const isLatestContact = sql`edition_contact.seq = ${selectLatestSeq(sql`users.seq`, editions)}`
  return sql`select users.id, edition_contact.locale from edition_customers as edition_contact
    cross join users on users.seq = edition_contact.user_seq
    where ${inEditions(sql`edition_contact.edition_id`, editions)} ${editions.length === 1 ? sql`` : sql`and ${isLatestContact}`}
    order by edition_contact.created_at desc, edition_contact.seq desc limit ${maxRowsCounted}`
}

/** Holds for the visible orders. */
function isVisibleOrder(tenant: SegmentTenant): SQL {
  const editions = listEditionIds(tenant)
  if (editions === null) return sql`organization_id = ${tenant.organization_id}`
  if (editions.length === 1) return sql`edition_id = ${editions[0]}`
  const each = sql`select seq from orders where edition_id = e.value order by created_at desc, seq desc`
  return sql`seq in (${selectNewestOfEach(tenant, 'seq', each)})`
}

const buildNewestRows = (tenant: SegmentTenant): SQL =>
  sql`with placed as materialized (select id, status, type, currency, edition_id from orders where ${isVisibleOrder(tenant)}
      order by created_at desc, seq desc limit ${maxRowsCounted}),
    bought as materialized (select p.product_id, p.variant_id, p.location_id, p.options, p.status
      from placed cross join purchases as p on p.order_id = placed.id),
    chosen as materialized (select json_each.value ->> 'api_id' as id from bought, json_each(bought.options)
      where bought.options <> '[]'),
    people as materialized (${selectNewestPeople(tenant)})`

/** Lists the most frequent values of each kind. */
export async function listKnownValues(db: Database, tenant: SegmentTenant): Promise<KnownValues> {
  const all: Record<string, SQL> = {
    ...buildSources(tenant),
    ...Object.fromEntries(Object.entries(fixedKinds).map(([kind, source]) => [kind, buildFixedSource(source)])),
  }
  const lists = Object.entries(all).map(([kind, source]) => [
    kind,
    fromJson<KnownValue[]>(sql`(select json_group_array(json_object('value', value, 'label', label, 'count', count))
      from (select value, label, count from (${source}) order by count desc, label, value limit ${maxValuesListed}))`),
  ])
  const fields = Object.fromEntries(lists) as Record<ValueKind, SQL<KnownValue[]>>
  const row = await db.first(
    decodeAs(fields, sql<KnownValues>`${buildNewestRows(tenant)} select ${buildSelectList(fields)}`),
  )
  if (!row) throw new Error('a select without a table returns one row')
  return row
}

/** Finds which of these values do not exist, also beyond the most frequent ones. */
export async function findMissingValues(
  db: Database,
  tenant: SegmentTenant,
  { kind, by, values }: { kind: ValueKind; by: 'value' | 'label'; values: readonly string[] },
): Promise<string[]> {
  if (Object.hasOwn(fixedKinds, kind)) return [...values]
  const source = buildSources(tenant)[kind as Exclude<ValueKind, FixedKind>]
  const rows = await db.all(
    sql<{ existing_value: string }>`${buildNewestRows(tenant)} select ${sql.raw(by)} as existing_value from (${source})
      where ${inList(sql.raw(by), values)}`,
  )
  return values.filter((value) => !rows.some(({ existing_value }) => existing_value === value))
}

export const loadKnownValues = async (ctx: Ctx, input: TenantInput): Promise<KnownValues> =>
  listKnownValues(ctx.db, await findSegmentTenant(ctx, input, parameterError))
