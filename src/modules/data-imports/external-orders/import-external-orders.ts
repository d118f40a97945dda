import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit, addAfterCommit } from '../../../db/commit.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { editions } from '../../../db/schema/editions.ts'
import { organizations } from '../../../db/schema/organizations.ts'
import { select } from '../../../db/select.ts'
import { listChangeableEditions } from '../../../db/customers.ts'
import { insert } from '../../../db/write.ts'
import { doesNotExist, editionArchived, type FieldError, fieldError, invalid } from '../../../domain/errors.ts'
import type { ImportOptions } from '../../../domain/data-imports/data-imports.ts'
import { type importStatuses, maxExternalIdLength } from '../../../domain/orders/external-orders.ts'
import { buildSearchText, buildSortKey } from '../../../domain/text/fold.ts'
import { normalizePhone } from '../../../domain/accounts/users.ts'
import { loadImportDefinitions, type ImportDefinitions } from '../../consents/index.ts'
import { runOrderImport, type ImportRun, type OrderEntry, type OrderOutcome } from '../../order-import/index.ts'
import { type OrganizationSummaryRow, organizationSummaryFields } from '../../organizations/index.ts'
import { pickReceiptMessage, enqueueEmails } from '../../transactional-emails/index.ts'
import type { ImportExternalOrdersInput } from './contract.ts'
import { parseExternalOrder } from './external-order-contract.ts'

type RunEdition = ImportRun['edition']

type DataImportRow = typeof dataImports.$inferSelect

/** The other columns belong to imports of files. */
type ReportedRow = Pick<
  DataImportRow,
  | 'organization_id'
  | 'edition_id'
  | 'account_id'
  | 'name'
  | 'name_key'
  | 'external_source'
  | 'total_rows'
  | 'created_orders'
  | 'updated_orders'
  | 'skipped_orders'
  | 'failed_orders'
  | 'version'
  | 'created_at'
  | 'modified_at'
  | 'search'
> & {
  id: string | null
  source: 'api'
  status: (typeof importStatuses)[number]
  options: Pick<ImportOptions, 'on_duplicate' | 'emit_webhooks' | 'send_receipts' | 'skipped'>
}

export interface ImportReport {
  row: ReportedRow
  edition: RunEdition & OrganizationSummaryRow
  results: readonly OrderOutcome[]
  dry_run: boolean
}

const maxFaults = 20

async function findRunEdition(
  ctx: Ctx,
  input: ImportExternalOrdersInput,
): Promise<RunEdition & OrganizationSummaryRow> {
  const edition = await ctx.db.first(
    select({
      ...getTableColumns(editions),
      ...organizationSummaryFields,
      erasure_key: organizations.erasure_key,
    })
      .from(editions)
      .innerJoin(organizations, eq(organizations.id, editions.organization_id))
      .where(and(eq(editions.id, input.edition_id), eq(editions.organization_id, input.organization_id))),
  )
  if (edition?.is_archived) throw editionArchived()
  if (edition) return edition
  const organization = await ctx.db.first(sql`select id from organizations where id = ${input.organization_id}`)
  throw doesNotExist(organization ? 'edition_id' : 'organization_id')
}

const buildRefusal = (index: number, external_id: string | null, errors: readonly FieldError[]): OrderOutcome => ({
  index,
  external_id,
  action: 'error',
  order_id: null,
  errors,
  warnings: [],
})

const limitFaults = (outcome: OrderOutcome): OrderOutcome => ({
  ...outcome,
  errors: outcome.errors.slice(0, maxFaults),
  warnings: outcome.warnings.slice(0, maxFaults),
})

function readOrder(raw: unknown, index: number, edition: RunEdition): OrderEntry | OrderOutcome {
  const path = ['orders', index]
  const external_id =
    typeof raw === 'object' && raw !== null && 'external_id' in raw && typeof raw.external_id === 'string'
      ? raw.external_id.slice(0, maxExternalIdLength)
      : null
  const refuse = (errors: readonly FieldError[]): OrderOutcome => buildRefusal(index, external_id, errors)
  const parsed = parseExternalOrder(raw, path)
  if ('errors' in parsed) return refuse(parsed.errors)
  const { order } = parsed
  const { customer } = order
  const rawPhone = customer.phone_number
  const phone_number = rawPhone && normalizePhone(rawPhone, edition.default_country_code)
  const unusable_phone = phone_number === null ? rawPhone : null
  return unusable_phone !== null && customer.email === null
    ? refuse([fieldError([...path, 'customer', 'phone_number'], 'invalid_phone', 'This is not a phone number.')])
    : { index, path, order: { ...order, unusable_phone, customer: { ...customer, phone_number } } }
}

function checkConsents(
  definitions: ImportDefinitions,
  candidate: OrderEntry | OrderOutcome,
): OrderEntry | OrderOutcome {
  if (!('order' in candidate)) return candidate
  const { index, order } = candidate
  const errors = Object.keys(order.consents).flatMap((key) => {
    const definition = definitions.get(key)
    const path = ['orders', index, 'consents', key]
    if (!definition) return [fieldError(path, 'does_not_exist', 'This edition has no consent with this key.')]
    return definition.is_active ? [] : [fieldError(path, 'consent_inactive', 'This consent is not active.')]
  })
  return errors.length ? buildRefusal(index, order.external_id, errors) : candidate
}

async function findReceiptMessage(
  ctx: Ctx,
  edition: RunEdition,
  input: ImportExternalOrdersInput,
): Promise<string | null> {
  if (!input.send_receipts) return null
  const message = await pickReceiptMessage(ctx, edition)
  if (message !== null) return message
  const detail = 'This edition has no receipt e-mail. Choose one in its field transaction_receipt_email_id.'
  throw invalid(fieldError(['send_receipts'], 'no_receipt_message', detail))
}

function buildReport(
  ctx: Ctx,
  edition: RunEdition & OrganizationSummaryRow,
  input: ImportExternalOrdersInput,
  { importId, results }: { importId: string | null; results: readonly OrderOutcome[] },
): ImportReport {
  const now = ctx.now()
  const count = (action: OrderOutcome['action']) => results.filter((result) => result.action === action).length
  const failed = count('error')
  const { on_duplicate, emit_webhooks, send_receipts, skipped, dry_run, source } = input
  const name = `${source} ${new Date(now).toISOString()}`
  const row: ReportedRow = {
    id: importId,
    organization_id: edition.organization_id,
    edition_id: edition.id,
    account_id: ctx.caller.is_superuser ? null : ctx.caller.id,
    name,
    name_key: buildSortKey(name),
    search: buildSearchText(name),
    source: 'api',
    external_source: source,
    status: failed ? 'completed_with_errors' : 'completed',
    options: { on_duplicate, emit_webhooks, send_receipts, skipped },
    total_rows: results.length,
    created_orders: count('created'),
    updated_orders: count('updated'),
    skipped_orders: count('skipped'),
    failed_orders: failed,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  return { row, edition, results, dry_run }
}

/**
 * Imports orders of another system, each completely or not at all. After an interruption, the same call skips the
 * orders that exist and continues.
 */
export async function importOrdersFromRequest(ctx: Ctx, input: ImportExternalOrdersInput): Promise<ImportReport> {
  const edition = await findRunEdition(ctx, input)
  const receipt = await findReceiptMessage(ctx, edition, input)
  const parsed = input.orders.map((raw, index) => readOrder(raw, index, edition))
  const keys = parsed.flatMap((entry) => ('order' in entry ? Object.keys(entry.order.consents) : []))
  const definitions = await loadImportDefinitions(ctx.db, edition, [...new Set(keys)])
  const entries = parsed.map((entry) => checkConsents(definitions, entry))
  const importId = input.dry_run ? null : ctx.newId('data_import')
  const { source, on_duplicate, dry_run, skipped, emit_webhooks } = input
  const changeable = listChangeableEditions(ctx.caller, edition.organization_id)
  const options = { source, on_duplicate, dry_run, false_means_skipped: skipped, emit_webhooks }
  const run = { ...options, edition, changeable, definitions, import_id: importId, receipt_message: receipt }
  const outcomes = await runOrderImport(
    ctx,
    run,
    entries.filter((entry) => 'order' in entry),
  )
  const results = [...entries.filter((entry) => 'action' in entry), ...outcomes].map(limitFaults)
  results.sort((a, b) => a.index - b.index)
  const report = buildReport(ctx, edition, input, { importId, results })
  const { id } = report.row
  if (id === null) return commit(ctx, report, [])
  const inserted = insert(dataImports, { ...report.row, id })
  return commit(ctx, report, [receipt === null ? inserted : addAfterCommit(inserted, () => enqueueEmails(ctx))])
}
