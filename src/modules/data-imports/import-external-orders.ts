import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit, commitPart } from '../../db/commit.ts'
import { dataImports } from '../../db/schema/data-imports.ts'
import { changeableEditions } from '../../db/shared-customers.ts'
import { insert } from '../../db/write.ts'
import { doesNotExist, editionArchived, type FieldError, fieldError, invalid, LostRace } from '../../domain/errors.ts'
import { maxExternalIdLength, maxUnitsPerOrder } from '../../domain/external-orders.ts'
import type { ChannelAddress } from '../../domain/suppressions.ts'
import { normalizePhone } from '../../domain/users.ts'
import {
  answerAnnouncements,
  answerRaces,
  answerStatements,
  importDefinitions,
  type ImportDefinitions,
  importedAnswers,
} from '../consents/index.ts'
import { type OrganizationSummaryRow, organizationSummaryColumns } from '../organizations/index.ts'
import { receiptMessageOf, receiptStatements, ringEmails } from '../transactional-emails/index.ts'
import { restoredSuppressions } from '../suppressions/index.ts'
import { announceAll } from '../webhooks/index.ts'
import { announcementsOf } from './announcements.ts'
import type { ImportExternalOrdersInput } from './contract.ts'
import { type Candidate, decide, type Outcome } from './decide.ts'
import { parseExternalOrder } from './external-order-contract.ts'
import { loadState } from './state.ts'
import { type Edition, newWrites, statementsOf } from './writes.ts'

type DataImportRow = typeof dataImports.$inferSelect

export interface ImportReport {
  row: Omit<DataImportRow, 'id'> & { id: string | null }
  edition: Edition & OrganizationSummaryRow
  results: readonly Outcome[]
  dry_run: boolean
}

/** Orders that one transaction takes in, of no more units than one order may have; when it fails, they go one by one. */
const groupSize = 25
const maxTries = 5

/** The faults that are kept of one order. Those of a hundred orders fit into one value of the database. */
const maxFaults = 20

async function findEdition(ctx: Ctx, input: ImportExternalOrdersInput): Promise<Edition & OrganizationSummaryRow> {
  const edition = await ctx.db.first(sql<
    Edition & OrganizationSummaryRow
  >`select editions.*, ${organizationSummaryColumns}
    from editions join organizations on organizations.id = editions.organization_id
    where editions.id = ${input.edition_id} and editions.organization_id = ${input.organization_id}`)
  if (edition?.is_archived) throw editionArchived()
  if (edition) return edition
  const organization = await ctx.db.first(sql`select id from organizations where id = ${input.organization_id}`)
  throw doesNotExist(organization ? 'edition_id' : 'organization_id')
}

const refused = (index: number, external_id: string | null, errors: readonly FieldError[]): Outcome => ({
  index,
  external_id,
  action: 'error',
  order_id: null,
  errors: errors.slice(0, maxFaults),
})

/** Reads one order of the call; nothing of it is in the database yet. */
function read(raw: unknown, index: number, edition: Edition): Candidate | Outcome {
  const path = ['orders', index]
  const external_id =
    typeof raw === 'object' && raw !== null && 'external_id' in raw && typeof raw.external_id === 'string'
      ? raw.external_id.slice(0, maxExternalIdLength)
      : null
  const refuse = (errors: readonly FieldError[]): Outcome => refused(index, external_id, errors)
  const parsed = parseExternalOrder(raw, path)
  if ('errors' in parsed) return refuse(parsed.errors)
  const { order } = parsed
  const given = order.customer.phone_number
  const phone = given && normalizePhone(given, edition.default_country_code)
  return given && phone === null
    ? refuse([fieldError([...path, 'customer', 'phone_number'], 'invalid_phone', 'This is not a telephone number.')])
    : { index, order, phone }
}

/** Refuses an order that says something of a consent that nobody is asked for there. */
function withKnownConsents(definitions: ImportDefinitions, candidate: Candidate | Outcome): Candidate | Outcome {
  if (!('order' in candidate)) return candidate
  const { index, order } = candidate
  const errors = Object.keys(order.consents).flatMap((key) => {
    const definition = definitions.get(key)
    const path = ['orders', index, 'consents', key]
    if (!definition) return [fieldError(path, 'does_not_exist', 'This edition has no consent with this key.')]
    return definition.is_active === 1
      ? []
      : [fieldError(path, 'consent_inactive', 'This consent is not asked for any more.')]
  })
  return errors.length ? refused(index, order.external_id, errors) : candidate
}

function groupsOf(candidates: readonly Candidate[]): Candidate[][] {
  const groups: Candidate[][] = []
  let units = 0
  for (const candidate of candidates) {
    const own = candidate.order.items.reduce((count, item) => count + item.quantity, 0)
    const group = groups.at(-1)
    if (group && group.length < groupSize && units + own <= maxUnitsPerOrder) group.push(candidate)
    else {
      groups.push([candidate])
      units = 0
    }
    units += own
  }
  return groups
}

/** A violated uniqueness means that another call made the same order, customer or product a moment ago. */
const races = Object.fromEntries(
  [
    ...Object.keys(answerRaces),
    'orders.edition_id, orders.external_id, orders.external_source',
    'users.organization_id, users.email',
    'users.organization_id, users.phone_number',
    'products.edition_id, products.name_folded',
    'locations.edition_id, locations.name_folded',
    'variants.product_id, variants.name_folded',
    'options.product_id, options.name_folded',
  ].map((columns) => [columns, () => new LostRace('somebody made it meanwhile')]),
)

/** The message of the receipts that were asked for; null when none were. */
async function receiptWanted(ctx: Ctx, edition: Edition, input: ImportExternalOrdersInput): Promise<string | null> {
  if (!input.send_receipts) return null
  const message = await receiptMessageOf(ctx, edition)
  if (message !== null) return message
  const detail = 'This edition has no message for receipts. Its field transaction_receipt_email_id names one.'
  throw invalid(fieldError(['send_receipts'], 'no_receipt_message', detail))
}

const addressesOf = (group: readonly Candidate[]): ChannelAddress[] =>
  group.flatMap(({ order, phone }) => [
    ...(order.customer.email === null ? [] : [{ channel: 'email' as const, address: order.customer.email }]),
    ...(phone === null ? [] : [{ channel: 'sms' as const, address: phone }]),
  ])

/** What all groups of a call share. */
interface Run {
  /** Null for a dry run. */
  importId: string | null
  receipt: string | null
  definitions: ImportDefinitions
}

async function takeGroup(
  ctx: Ctx,
  edition: Edition,
  input: ImportExternalOrdersInput,
  run: Run,
  group: readonly Candidate[],
): Promise<Outcome[]> {
  const { receipt } = run
  const { source, on_duplicate: onDuplicate, dry_run } = input
  const changeable = changeableEditions(ctx.caller, edition.organization_id)
  const scope = { organization_id: edition.organization_id, edition_id: edition.id, source, changeable }
  for (let tries = 1; ; tries++) {
    const orders = group.map(({ order }) => order)
    const phones = group.map(({ phone }) => phone)
    const state = await loadState(ctx.db, scope, orders, phones, onDuplicate === 'update')
    const writes = newWrites()
    const outcomes = group.map((candidate) =>
      decide(ctx, { edition, source, onDuplicate, changeable }, state, writes, candidate),
    )
    const statements = statementsOf(edition.organization_id, writes)
    if (dry_run)
      return outcomes.map((outcome) => (outcome.action === 'created' ? { ...outcome, order_id: null } : outcome))
    const { importId: import_id, definitions } = run
    const answers = await importedAnswers(
      ctx,
      { edition, definitions, import_id, source, skipped: input.skipped },
      writes.answers,
    )
    if (statements.length === 0 && answers.length === 0) return outcomes
    const announcements = [
      ...announcementsOf(ctx, edition, state, writes.turns),
      ...answers.flatMap(answerAnnouncements),
    ]
    const events = input.emit_webhooks ? announceAll(ctx, announcements) : []
    const again = await restoredSuppressions(edition.organization_id, addressesOf(group))
    const receipts = receipt === null ? [] : receiptStatements(ctx, edition, receipt, writes.placed)
    try {
      await commitPart(ctx, [...statements, ...again, ...answerStatements(answers), ...events, ...receipts], races)
      return outcomes
    } catch (error) {
      if (!(error instanceof LostRace) || (group.length === 1 && tries === maxTries)) throw error
      if (group.length === 1) continue
      const single: Outcome[] = []
      for (const candidate of group) single.push(...(await takeGroup(ctx, edition, input, run, [candidate])))
      return single
    }
  }
}

function report(
  ctx: Ctx,
  edition: Edition & OrganizationSummaryRow,
  input: ImportExternalOrdersInput,
  { importId, results }: { importId: string | null; results: readonly Outcome[] },
): ImportReport {
  const now = ctx.now()
  const count = (action: Outcome['action']) => results.filter((result) => result.action === action).length
  const failed = count('error')
  const { on_duplicate, emit_webhooks, send_receipts, skipped, dry_run, source } = input
  const row = {
    id: importId,
    organization_id: edition.organization_id,
    edition_id: edition.id,
    account_id: ctx.caller.is_superuser ? null : ctx.caller.id,
    name: `${source} ${new Date(now).toISOString()}`,
    source: 'api',
    external_source: source,
    status: failed ? 'completed_with_errors' : 'completed',
    options: JSON.stringify({ on_duplicate, emit_webhooks, send_receipts, skipped }),
    total_rows: results.length,
    created_orders: count('created'),
    updated_orders: count('updated'),
    skipped_orders: count('skipped'),
    failed_orders: failed,
    results: JSON.stringify(results),
    version: 1,
    created_at: now,
    modified_at: now,
  }
  return { row, edition, results, dry_run }
}

/**
 * Takes in orders of another system. Every order is whole or not there: when this is cut off in the middle, the same
 * call again skips what it has and goes on.
 */
export async function importExternalOrders(ctx: Ctx, input: ImportExternalOrdersInput): Promise<ImportReport> {
  const edition = await findEdition(ctx, input)
  const receipt = await receiptWanted(ctx, edition, input)
  const parsed = input.orders.map((raw, index) => read(raw, index, edition))
  const keys = parsed.flatMap((entry) => ('order' in entry ? Object.keys(entry.order.consents) : []))
  const definitions = await importDefinitions(ctx.db, edition, [...new Set(keys)])
  const entries = parsed.map((entry) => withKnownConsents(definitions, entry))
  const importId = input.dry_run ? null : ctx.newId('data_import')
  const run = { importId, receipt, definitions }
  const candidates = entries.filter((entry) => 'order' in entry)
  const results: Outcome[] = entries.filter((entry) => 'action' in entry)
  for (const group of groupsOf(candidates)) results.push(...(await takeGroup(ctx, edition, input, run, group)))
  results.sort((a, b) => a.index - b.index)
  const done = report(ctx, edition, input, { importId, results })
  const { id } = done.row
  if (receipt !== null && id !== null) ctx.afterCommit(() => ringEmails(ctx))
  return commit(ctx, done, id === null ? [] : [insert(dataImports, { ...done.row, id })])
}
