import { compareRows } from './comparisons.ts'
import { createFinding, type Finding, type PagedTable, type Query } from './query.ts'

export const orphansTitle = 'References to rows that are gone'

interface Reference {
  column: string
  parent: string
  parentColumn: string
  /** A condition on the row; without it every value has to lead to a row. */
  where?: string
}

/** References that the schema does not declare, because a foreign key would cost too much. */
export const undeclaredReferences: Readonly<Record<string, readonly Reference[]>> = {
  campaign_receipts: [
    // A campaign that sent nothing can be deleted, and the reports that it failed stay.
    { column: 'campaign_id', parent: 'campaigns', parentColumn: 'id', where: "state = 'sent'" },
  ],
  consent_records: [
    { column: 'consent_id', parent: 'consents', parentColumn: 'id' },
    {
      column: 'user_id',
      parent: 'users',
      parentColumn: 'id',
      where: 'not exists (select 1 from user_merges where user_merges.id = consent_records.user_id)',
    },
  ],
  consent_stats: [{ column: 'consent_id', parent: 'consents', parentColumn: 'id' }],
  editions: [{ column: 'meta_image_id', parent: 'files', parentColumn: 'id' }],
  erasures: [{ column: 'user_seq', parent: 'users', parentColumn: 'seq' }],
  order_counts: [{ column: 'edition_id', parent: 'editions', parentColumn: 'id' }],
  orders: [{ column: 'completed_transaction_id', parent: 'transactions', parentColumn: 'id' }],
  refund_requests: [
    { column: 'batch_id', parent: 'refund_batches', parentColumn: 'id' },
    { column: 'purchase_id', parent: 'purchases', parentColumn: 'id' },
  ],
  sales_counts: [{ column: 'series_id', parent: 'sales_series', parentColumn: 'id' }],
  sales_series: [{ column: 'edition_id', parent: 'editions', parentColumn: 'id' }],
  segment_leftovers: [{ column: 'segment_seq', parent: 'segments', parentColumn: 'seq' }],
  segment_members: [
    { column: 'segment_seq', parent: 'segments', parentColumn: 'seq' },
    { column: 'user_seq', parent: 'users', parentColumn: 'seq' },
  ],
  transactions: [{ column: 'organization_id', parent: 'organizations', parentColumn: 'id' }],
  webhook_deliveries: [{ column: 'edition_id', parent: 'editions', parentColumn: 'id' }],
}

/**
 * Columns that name a row and may outlive it: the row may be deleted, belong to another service, or be an account that
 * is not stored, such as the superuser.
 */
export const looseColumns: readonly string[] = [
  'access_tokens.minter_member_id',
  'alarms.resource_id',
  'audit_log.actor_id',
  'audit_log.edition_id',
  'audit_log.organization_id',
  'audit_log.request_id',
  'audit_log.resource_id',
  'audit_log.token_id',
  'campaigns.deleted_message_id',
  'consent_records.import_id',
  'consent_records.order_id',
  'consent_records.previous_record_id',
  'consents.origin_id',
  'data_imports.account_id',
  'editions.merchant_id',
  'editions.refund_confirmation_email_id',
  'editions.transaction_receipt_email_id',
  'email_renditions.edition_id',
  'erasures.caller_id',
  'file_uploads.file_id',
  'file_uploads.store_upload_id',
  'idempotency_keys.caller_id',
  'idempotency_keys.claim_id',
  'import_header_history.owner_id',
  'import_orders.order_id',
  'import_orders.user_id',
  'import_product_history.location_id',
  'import_product_history.product_id',
  'import_product_history.variant_id',
  'import_source_history.owner_id',
  'objects_to_delete.store_upload_id',
  'orders.external_id',
  'payment_events.merchant_account_id',
  'product_merges.orders_seq',
  'refund_batch_customers.user_id',
  'refund_batches.cursor_seq',
  'sales_series.product_id',
  'segment_exports.caller_id',
  'segment_exports.request_id',
  'segments.cursor_id',
  'segments.last_id',
  'sender_domains.provider_domain_id',
  'service_outages.resource_id',
  'sign_in_links.member_id',
  'signup_requests.form_id',
  'suppressions.campaign_id',
  'transactional_emails.consent_record_id',
  'transactional_emails.email_message_id',
  'transactional_emails.example_user_id',
  'transactional_emails.provider_id',
  'transactional_emails.signup_request_id',
  'wallet_registrations.device_id',
  'webhook_streams.holder_id',
]

interface TableSchema extends PagedTable {
  columns: readonly string[]
  references: readonly Reference[]
}

/** Reads the keys and references of a table from its statement, because D1 refuses the pragmas that would list them. */
function parseTable(table: string, sql: string): TableSchema {
  const text = sql.replaceAll(/--[^\n]*/g, '')
  const definitions = text
    .slice(text.indexOf('(') + 1)
    .split(',')
    .map((definition) => definition.trim())
  const listStart = text.indexOf('primary key (')
  const compositeKey = listStart === -1 ? [] : text.slice(listStart + 13, text.indexOf(')', listStart)).split(',')
  const ownKey = definitions.filter((definition) => / primary key(?! \()/.test(definition)).map(readName)
  return {
    table,
    columns: definitions.filter((definition) => /^\w+ (?:text|integer|real)\b/.test(definition)).map(readName),
    keys: listStart === -1 ? ownKey : compositeKey.map((name) => name.trim()),
    references: definitions.flatMap((definition) => {
      const [, parent, parentColumn] = / references "?(\w+)"? \((\w+)\)/.exec(definition) ?? []
      return parent && parentColumn ? [{ column: readName(definition), parent, parentColumn }] : []
    }),
  }
}

const readName = (definition: string): string => definition.split(' ')[0]?.replaceAll('"', '') ?? ''

/** Lists the tables of the service, with their keys and declared references. */
export async function listTables(query: Query): Promise<TableSchema[]> {
  const tables = await query<{ name: string; sql: string }>(
    "select name, sql from sqlite_master where type = 'table' and sql like 'create table%' order by name",
  )
  return tables
    .filter(({ name, sql }) => !/^(?:sqlite|_cf|d1)_/.test(name) && / strict/i.test(sql))
    .map(({ name, sql }) => parseTable(name, sql))
}

const describeOrphan = (table: string, { column, parent, parentColumn, where }: Reference): string =>
  `iif("${table}"."${column}" is not null and (${where ?? '1'}) and not exists (select 1 from "${parent}" as parent
    where parent."${parentColumn}" = "${table}"."${column}"), '${column} ' || "${table}"."${column}", null)`

/** Finds rows that name a row which is gone. */
export async function findOrphans(query: Query, size: number): Promise<Finding> {
  const finding = createFinding(orphansTitle, 'rows')
  for (const { table, keys, references } of await listTables(query)) {
    const list = [...references, ...(undeclaredReferences[table] ?? [])]
    if (list.length === 0) continue
    const comparison = {
      title: finding.title,
      unit: 'rows',
      table,
      keys,
      id: `concat_ws(' ', ${keys.map((key) => `"${table}"."${key}"`).join(', ')})`,
      stored: 'null',
      counted: `nullif(concat_ws(' and ', ${list.map((reference) => describeOrphan(table, reference)).join(', ')}), '')`,
      describe: (id: string, _: unknown, orphans: unknown) => `${table} ${id} names ${String(orphans)}, which is gone.`,
    }
    await compareRows(query, comparison, size, finding)
  }
  return finding
}
