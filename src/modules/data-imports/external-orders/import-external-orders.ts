import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit } from '../../../db/commit.ts'
import { listChangeableEditions } from '../../../db/customers.ts'
import { dataImports } from '../../../db/schema/data-imports.ts'
import { editions } from '../../../db/schema/editions.ts'
import { organizations } from '../../../db/schema/organizations.ts'
import { fromFlag, select } from '../../../db/select.ts'
import { doesNotExist, editionArchived, type FieldError, fieldError, invalid } from '../../../domain/errors.ts'
import { maxExternalIdLength, type StoredResult } from '../../../domain/orders/external-orders.ts'
import { loadImportDefinitions, type ImportDefinitions } from '../../consents/index.ts'
import { importOrders, type OrderEntry, type OrderOutcome, previewOrders } from '../../order-import/index.ts'
import { organizationSummaryFields } from '../../organizations/index.ts'
import { pickReceiptMessage } from '../../transactional-emails/index.ts'
import { CallRecord, limitFaults } from './call-record.ts'
import { checkConsents, normalizeCustomerPhone } from './check-edition.ts'
import type { ImportExternalOrdersInput } from './contract.ts'
import { parseExternalOrder } from './external-order-contract.ts'
import { buildReport, type ImportReport, type RunEdition } from './report.ts'

interface InterruptedImport {
  id: string
  version: number
  created_at: number
  stored_results: readonly StoredResult[] | null
}

const selectInterrupted = (resumeKey: string) =>
  select({
    id: dataImports.id,
    version: dataImports.version,
    created_at: dataImports.created_at,
    stored_results: dataImports.stored_results,
  })
    .from(dataImports)
    .where(eq(dataImports.resume_key, resumeKey))

/** Finds the edition, and the import that an earlier request with the same Idempotency-Key could not finish. */
async function findTarget(
  ctx: Ctx,
  input: ImportExternalOrdersInput,
): Promise<{ edition: RunEdition; interruptedImport: InterruptedImport | null }> {
  const rows = await ctx.db.batchNamed({
    editions: select({
      ...getTableColumns(editions),
      ...organizationSummaryFields,
      erasure_key: organizations.erasure_key,
      has_products: fromFlag(sql`exists (select 1 from products where edition_id = ${editions.id})`),
    })
      .from(editions)
      .innerJoin(organizations, eq(organizations.id, editions.organization_id))
      .where(and(eq(editions.id, input.edition_id), eq(editions.organization_id, input.organization_id))),
    interruptedImport: selectInterrupted(ctx.resumeKey),
  })
  const [edition] = rows.editions ?? []
  if (edition?.is_archived) throw editionArchived()
  if (edition) return { edition, interruptedImport: rows.interruptedImport?.[0] ?? null }
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

function readOrder(raw: unknown, index: number, edition: RunEdition): OrderEntry | OrderOutcome {
  const path = ['orders', index]
  const external_id =
    typeof raw === 'object' && raw !== null && 'external_id' in raw && typeof raw.external_id === 'string'
      ? raw.external_id.slice(0, maxExternalIdLength)
      : null
  const refuse = (errors: readonly FieldError[]): OrderOutcome => buildRefusal(index, external_id, errors)
  const parseResult = parseExternalOrder(raw, path)
  if ('errors' in parseResult) return refuse(parseResult.errors)
  const phoneResult = normalizeCustomerPhone(parseResult.order, edition.default_country_code, path)
  if ('error' in phoneResult) return refuse([phoneResult.error])
  const { order } = phoneResult
  const unusable_phone = order.customer.phone_number === null ? parseResult.order.customer.phone_number : null
  return { index, path, order: { ...order, unusable_phone } }
}

function refuseWrongConsents(
  definitions: ImportDefinitions,
  candidate: OrderEntry | OrderOutcome,
): OrderEntry | OrderOutcome {
  if (!('order' in candidate)) return candidate
  const { index, path, order } = candidate
  const errors = checkConsents(definitions, order.consents, path)
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

async function parseOrders(
  ctx: Ctx,
  edition: RunEdition,
  input: ImportExternalOrdersInput,
): Promise<{ definitions: ImportDefinitions; entries: OrderEntry[]; refusals: OrderOutcome[] }> {
  const parsedEntries = input.orders.map((raw, index) => readOrder(raw, index, edition))
  const keys = parsedEntries.flatMap((entry) => ('order' in entry ? Object.keys(entry.order.consents) : []))
  const definitions = await loadImportDefinitions(ctx.db, edition, [...new Set(keys)])
  const checkedEntries = parsedEntries.map((entry) => refuseWrongConsents(definitions, entry))
  return {
    definitions,
    entries: checkedEntries.filter((entry) => 'order' in entry),
    refusals: checkedEntries.filter((entry) => 'action' in entry).map(limitFaults),
  }
}

const completeResult = (result: StoredResult, entries: readonly OrderEntry[]): OrderOutcome => ({
  warnings: [],
  ...result,
  external_id: entries.find(({ index }) => index === result.index)?.order.external_id ?? null,
  errors: [],
})

/**
 * Imports orders of another system, each completely or not at all. After an interruption, a repetition with the same
 * Idempotency-Key continues, and reports what both requests have stored.
 */
export async function importExternalOrders(ctx: Ctx, input: ImportExternalOrdersInput): Promise<ImportReport> {
  const { edition, interruptedImport } = await findTarget(ctx, input)
  const receipt_message = await findReceiptMessage(ctx, edition, input)
  const { definitions, entries, refusals } = await parseOrders(ctx, edition, input)
  const { source, on_duplicate, dry_run, skipped, emit_webhooks } = input
  const run = {
    edition,
    source,
    on_duplicate,
    dry_run,
    emit_webhooks,
    definitions,
    receipt_message,
    changeable: listChangeableEditions(ctx.caller, edition.organization_id),
    false_means_skipped: skipped,
  }
  if (dry_run) {
    const outcomes = await previewOrders(ctx, { ...run, import_id: null }, entries)
    const call = { edition, input, id: null, begun_at: ctx.now() }
    return commit(ctx, buildReport(ctx, call, [...refusals, ...outcomes.map(limitFaults)]), [])
  }
  const { id, created_at: begun_at } = interruptedImport ?? { id: ctx.newId('data_import'), created_at: ctx.now() }
  const storedResults = (interruptedImport?.stored_results ?? []).map((result) => completeResult(result, entries))
  const storedIndexes = new Set(storedResults.map(({ index }) => index))
  const record = new CallRecord(
    ctx,
    { edition, input, id, begun_at },
    {
      outcomes: [...storedResults, ...refusals.filter(({ index }) => !storedIndexes.has(index))],
      version: interruptedImport?.version ?? null,
    },
  )
  const remainingEntries = entries.filter(({ index }) => !storedIndexes.has(index))
  await importOrders(ctx, { ...run, import_id: id }, remainingEntries, (plan) => record.record(plan))
  if (remainingEntries.length === 0) await record.finish()
  return record.report()
}
