import { type SQL, sql } from 'drizzle-orm'
import { joinConditions } from '../../db/paginate.ts'
import { maxNewest } from '../../db/search.ts'
import { fromJson } from '../../db/select.ts'
import type { ActivityKind } from '../../domain/activity.ts'
import type { Currency } from '../../domain/money.ts'
import type { RefundStatus } from '../../domain/refunds/refunds.ts'

/** What an entry shows, as its source selects it. */
export interface ActivityDetail {
  actor: string | null
  edition_id: string | null
  order_id: string | null
  purchase_id: string | null
  status: string | null
  label: string
  quantity: number | null
  amount_minor: number | null
  currency: Currency | null
}

/** A table that entries of one kind are read from. The key finds the row again, for the rows of a page alone. */
export interface Source {
  kind: string
  from: SQL
  where: readonly SQL[]
  /** Milliseconds UTC. A row where it is null has no entry. */
  at: SQL
  key: SQL
  /** Selects the detail of the row with this key, as JSON. */
  selectDetail: (key: SQL) => SQL
}

/** D1 takes at most five selects in one compound. */
const maxCompound = 5

const selectEntries = ({ kind, from, where, at, key }: Source): SQL =>
  sql`select ${at} as occurred_at, ${`${kind}:`} || ${key} as id from ${from}
    where ${joinConditions([...where, sql`${at} is not null`])}`

const unionAll = (selects: readonly SQL[]): SQL => sql`(${sql.join([...selects], sql` union all `)})`

/** The entries of up to 25 sources, with their time and an id of the kind and the key. */
export function unionSources(sources: readonly Source[]): SQL {
  const selects = sources.map(selectEntries)
  const groups = Array.from({ length: Math.ceil(selects.length / maxCompound) }, (_, index) =>
    unionAll(selects.slice(index * maxCompound, (index + 1) * maxCompound)),
  )
  return sql`${unionAll(groups.map((group) => sql`select * from ${group}`))} as entry`
}

/** The rows of a table that a source reads, under the name of the table. */
export interface Rows {
  from: SQL
  where: readonly SQL[]
}

type Table = 'orders' | 'purchases' | 'refund_requests' | 'transactional_emails'

export const selectRows = (table: Table, isIncluded: SQL): Rows => ({ from: sql.raw(table), where: [isIncluded] })

/** Limits the rows of a customer, who may have a million orders. */
export const selectNewest = (table: Table, isIncluded: SQL, key: SQL): Rows => ({
  from: sql`(select * from ${sql.raw(table)} where ${isIncluded} order by ${key} desc limit ${maxNewest})
    as ${sql.raw(table)}`,
  where: [],
})

const kindOf = (id: SQL): SQL => sql`substr(${id}, 1, instr(${id}, ':') - 1)`
const keyOf = (id: SQL): SQL => sql`substr(${id}, instr(${id}, ':') + 1)`

/** Selects the detail of an entry from the source of its kind. */
export function selectDetail<Detail>(sources: readonly Source[], id: SQL): SQL<Detail> {
  const cases = sources.map((source) => sql`when ${source.kind} then ${source.selectDetail(keyOf(id))}`)
  return fromJson<Detail>(sql`case ${kindOf(id)} ${sql.join(cases, sql` `)} end`)
}

type DetailColumns = { [Name in keyof ActivityDetail]?: SQL }

const detailNames: readonly (keyof ActivityDetail)[] = [
  'actor',
  'edition_id',
  'order_id',
  'purchase_id',
  'status',
  'label',
  'quantity',
  'amount_minor',
  'currency',
]

const buildDetail = (columns: DetailColumns): SQL => {
  const values = detailNames.map(
    (name) => sql`${sql.raw(`'${name}'`)}, ${columns[name] ?? sql.raw(name === 'label' ? "''" : 'null')}`,
  )
  return sql`json_object(${sql.join(values, sql`, `)})`
}

/** The detail of a row that is found by its id in the tables of `from`. */
const selectDetailFrom =
  (from: SQL, id: SQL, columns: DetailColumns): Source['selectDetail'] =>
  (key) =>
    sql`(select ${buildDetail(columns)} from ${from} where ${id} = ${key})`

/** Builds the sources about orders. */
export function buildOrderSources(rows: Rows): Source[] {
  const columns = {
    edition_id: sql`orders.edition_id`,
    order_id: sql`orders.id`,
    status: sql`orders.status`,
    label: sql`coalesce(orders.order_number, '')`,
    amount_minor: sql`orders.amount_minor`,
    currency: sql`orders.currency`,
  }
  const key = sql`orders.id`
  const select = (detail: DetailColumns) => selectDetailFrom(sql`orders`, key, detail)
  return [
    { ...rows, kind: 'order_created', at: sql`orders.created_at`, key, selectDetail: select(columns) },
    {
      ...rows,
      kind: 'order_cancelled',
      at: sql`orders.cancelled_at`,
      key,
      selectDetail: select({ ...columns, actor: sql`orders.cancelled_by` }),
    },
  ]
}

const importedAt = sql`coalesce(import_orders.undo_data ->> '$.updated.written_at', data_imports.started_at,
  data_imports.created_at)`

/** Builds the source about imports that created or changed an order. */
export const buildImportSource = (orderId: string): Source => {
  const from = sql`import_orders cross join data_imports on data_imports.id = import_orders.import_id`
  return {
    kind: 'order_imported',
    from,
    where: [sql`import_orders.order_id = ${orderId}`, sql`import_orders.outcome in ('created', 'updated')`],
    at: importedAt,
    key: sql`import_orders.import_id || ':' || import_orders.number`,
    selectDetail: (key) => sql`(select ${buildDetail({
      actor: sql`data_imports.account_id`,
      edition_id: sql`data_imports.edition_id`,
      order_id: sql`import_orders.order_id`,
      status: sql`iif(import_orders.undo_outcome = 'undone', 'undone', import_orders.outcome)`,
      label: sql`data_imports.name`,
    })} from ${from} where import_orders.import_id = substr(${key}, 1, instr(${key}, ':') - 1)
      and import_orders.number = cast(substr(${key}, instr(${key}, ':') + 1) as integer))`,
  }
}

/** Builds the sources about uses of purchases. */
export function buildUseSources({ from, where }: Rows): Source[] {
  const columns = {
    edition_id: sql`purchases.edition_id`,
    order_id: sql`purchases.order_id`,
    purchase_id: sql`purchases.id`,
    label: sql`(select name from products where products.id = purchases.product_id)`,
    quantity: sql`purchase_uses.quantity`,
  }
  const key = sql`purchase_uses.id`
  const build = (kind: ActivityKind, at: SQL, actor: SQL): Source => ({
    kind,
    from: sql`${from} cross join purchase_uses on purchase_uses.purchase_id = purchases.id`,
    where,
    at,
    key,
    selectDetail: selectDetailFrom(
      sql`purchase_uses cross join purchases on purchases.id = purchase_uses.purchase_id`,
      key,
      { ...columns, actor },
    ),
  })
  return [
    build('purchase_used', sql`purchase_uses.used_at`, sql`purchase_uses.created_by`),
    build('purchase_use_reverted', sql`purchase_uses.reverted_at`, sql`purchase_uses.reverted_by`),
  ]
}

/** Builds the sources about refund requests. */
export function buildRefundSources({ from, where }: Rows): Source[] {
  const columns = {
    edition_id: sql`refund_requests.edition_id`,
    order_id: sql`refund_requests.order_id`,
    purchase_id: sql`refund_requests.purchase_id`,
    status: sql`refund_requests.status`,
    amount_minor: sql`coalesce(refund_requests.approved_minor, refund_requests.requested_minor)`,
    currency: sql`refund_requests.currency`,
  }
  const key = sql`refund_requests.id`
  const build = (kind: ActivityKind, at: SQL, { condition, ...detail }: DetailColumns & { condition?: SQL } = {}) => ({
    kind,
    from,
    where: [...where, ...(condition ? [condition] : [])],
    at,
    key,
    selectDetail: selectDetailFrom(sql`refund_requests`, key, { ...columns, ...detail }),
  })
  const actor = sql`refund_requests.reviewed_by`
  const [reviewedAt, modifiedAt] = [sql`refund_requests.reviewed_at`, sql`refund_requests.modified_at`]
  const hasStatus = (status: RefundStatus) => sql`refund_requests.status = ${status}`
  return [
    build('refund_requested', sql`refund_requests.created_at`, { actor: sql`refund_requests.requested_by` }),
    build('refund_approved', reviewedAt, { condition: sql`not ${hasStatus('rejected')}`, actor }),
    build('refund_rejected', reviewedAt, { condition: hasStatus('rejected'), actor }),
    build('refund_cancelled', modifiedAt, { condition: hasStatus('cancelled') }),
    build('refund_completed', sql`refund_requests.completed_at`),
    build('refund_failed', modifiedAt, { condition: hasStatus('failed') }),
  ]
}

/** Builds the sources about wallet passes of purchases. */
export function buildPassSources({ from, where }: Rows): Source[] {
  const columns = {
    edition_id: sql`wallet_passes.edition_id`,
    order_id: sql`(select purchases.order_id from purchases where purchases.id = wallet_passes.purchase_id)`,
    purchase_id: sql`wallet_passes.purchase_id`,
    status: sql`wallet_passes.status`,
    label: sql`wallet_passes.platform`,
  }
  const key = sql`wallet_passes.id`
  const build = (kind: ActivityKind, at: SQL, detail: DetailColumns = {}): Source => ({
    kind,
    from: sql`${from} cross join wallet_passes on wallet_passes.purchase_id = purchases.id`,
    where,
    at,
    key,
    selectDetail: selectDetailFrom(sql`wallet_passes`, key, { ...columns, ...detail }),
  })
  return [
    build('pass_issued', sql`wallet_passes.created_at`, { actor: sql`wallet_passes.created_by` }),
    build('pass_added', sql`wallet_passes.added_at`),
    build('pass_voided', sql`wallet_passes.voided_at`, { actor: sql`wallet_passes.voided_by` }),
  ]
}

/** The order of a receipt, or that of the refund that a message is about. */
export const emailOrderId = sql`coalesce(transactional_emails.order_id, (select refund_requests.order_id
  from refund_requests where refund_requests.id = transactional_emails.refund_request_id))`

/** Builds the source about transactional e-mails. */
export function buildEmailSource(rows: Rows): Source {
  const key = sql`transactional_emails.id`
  const columns = {
    actor: sql`transactional_emails.requested_by`,
    edition_id: sql`transactional_emails.edition_id`,
    order_id: emailOrderId,
    status: sql`transactional_emails.status`,
    label: sql`transactional_emails.kind`,
  }
  return {
    ...rows,
    kind: 'email',
    at: sql`transactional_emails.created_at`,
    key,
    selectDetail: selectDetailFrom(sql`transactional_emails`, key, columns),
  }
}

/** Builds the sources about receipts of an order and e-mails about its refunds. */
export const buildOrderEmailSources = (orderId: string): Source[] => [
  buildEmailSource(selectRows('transactional_emails', sql`transactional_emails.order_id = ${orderId}`)),
  buildEmailSource({
    from: sql`refund_requests cross join transactional_emails
      on transactional_emails.refund_request_id = refund_requests.id`,
    where: [sql`refund_requests.order_id = ${orderId}`],
  }),
]

/** Builds the source about answers of a customer to consents. */
export const buildConsentSource = (userId: string, isIncluded: SQL): Source => ({
  kind: 'consent',
  from: sql`consent_records`,
  where: [sql`consent_records.user_id = ${userId}`, isIncluded],
  at: sql`consent_records.occurred_at`,
  key: sql`consent_records.consent_id || ':' || consent_records.number`,
  selectDetail: (key) => sql`(select ${buildDetail({
    edition_id: sql`consent_records.edition_id`,
    order_id: sql`consent_records.order_id`,
    status: sql`consent_records.status`,
    label: sql`(select name from consents where consents.id = consent_records.consent_id)`,
  })} from consent_records where consent_records.user_id = ${userId}
    and consent_records.consent_id = substr(${key}, 1, instr(${key}, ':') - 1)
    and consent_records.number = cast(substr(${key}, instr(${key}, ':') + 1) as integer))`,
})

/** When a campaign sent its message to a customer, or skipped them. */
export const campaignMessageAt = sql`coalesce(campaign_receipts.received_at, campaign_receipts.missed_at)`

export const campaignsOfUser = sql`campaign_receipts cross join campaigns
  on campaigns.id = campaign_receipts.campaign_id`

/** Builds the sources about campaigns of a customer. */
export function buildCampaignSources(userId: string, isIncluded: SQL): Source[] {
  const isOfUser = sql`campaign_receipts.user_id = ${userId}`
  const columns = {
    edition_id: sql`campaigns.edition_id`,
    status: sql`campaign_receipts.state`,
    label: sql`campaigns.name`,
  }
  const build = (kind: ActivityKind, at: SQL): Source => ({
    kind,
    from: campaignsOfUser,
    where: [isOfUser, isIncluded],
    at,
    key: sql`campaign_receipts.campaign_id`,
    selectDetail: (key) => sql`(select ${buildDetail(columns)} from ${campaignsOfUser}
      where ${isOfUser} and campaign_receipts.campaign_id = ${key})`,
  })
  return [
    build('campaign', campaignMessageAt),
    build('campaign_opened', sql`campaign_receipts.opened_at`),
    build('campaign_clicked', sql`campaign_receipts.clicked_at`),
  ]
}
