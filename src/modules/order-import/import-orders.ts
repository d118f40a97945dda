import { sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { commitPart, type TransactionRead, abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import type { OrderRow } from '../../db/rows.ts'
import { maxProducts } from '../../domain/data-imports/data-imports.ts'
import { LostRace } from '../../domain/errors.ts'
import type { ChannelAddress } from '../../domain/messaging/suppressions.ts'
import { type DuplicatePolicy, type ExternalOrder, maxUnitsPerOrder } from '../../domain/orders/external-orders.ts'
import { fold } from '../../domain/text/fold.ts'
import {
  type DecidedAnswer,
  buildAnswerAnnouncements,
  answerRaces,
  buildAnswerStatements,
  buildReturnStatements,
  decideImportedAnswers,
  type ImportDefinitions,
} from '../consents/index.ts'
import { hasSuppressionHashes, restoreSuppressions } from '../suppressions/index.ts'
import { buildReceiptStatements } from '../transactional-emails/index.ts'
import { announceAll } from '../webhooks/index.ts'
import { buildImportAnnouncements } from './announcements.ts'
import { isFromFile, type OrderEntry, type OrderOutcome } from './check.ts'
import { decideOrderGroup, type GroupDecision } from './decide.ts'
import {
  type ImportState,
  loadImportState,
  type LoadScope,
  type ExtraReads,
  type ProductRow,
  readImportStateInTransaction,
} from './state.ts'
import { buildImportStatements } from './statements.ts'
import { type DecisionContext, type ImportEdition, listInsertedRows } from './writes.ts'

export interface ImportRun {
  edition: ImportEdition
  /** Name of the other system. */
  source: string
  on_duplicate: DuplicatePolicy
  dry_run: boolean
  /** Null for a dry run. */
  import_id: string | null
  /** Editions whose customers the import may change; null for all editions of the organisation. */
  changeable: readonly string[] | null
  definitions: ImportDefinitions
  /** True if `false` in `consents` means that the person was asked and did not agree. Otherwise it means nothing. */
  false_means_skipped: boolean
  emit_webhooks: boolean
  /** The id of the receipt message; null when no receipts are sent. */
  receipt_message: string | null
}

/** The most orders of a group, which is one transaction. If the transaction fails, each order gets its own. */
const groupSize = 25
const maxTries = 5

/** Splits orders into groups. A group has each external id once, and no more units than one order may have. */
function groupOrders(orders: readonly OrderEntry[]): OrderEntry[][] {
  const groups: OrderEntry[][] = []
  let units = 0
  let ids = new Set<string>()
  for (const entry of orders) {
    const { items, external_id } = entry.order
    const orderUnits = items.reduce((count, item) => count + item.quantity, 0)
    const group = groups.at(-1)
    const fits = group && group.length < groupSize && units + orderUnits <= maxUnitsPerOrder && !ids.has(external_id)
    if (fits) group.push(entry)
    else {
      groups.push([entry])
      units = 0
      ids = new Set()
    }
    units += orderUnits
    ids.add(external_id)
  }
  return groups
}

/** Unique indexes that fail when another request has created the same order, customer or product. */
export const races = Object.fromEntries(
  [
    ...Object.keys(answerRaces),
    'orders.edition_id, orders.external_id, orders.external_source',
    'users.organization_id, users.email',
    'users.organization_id, users.phone_number',
    'edition_customers.edition_id, edition_customers.user_seq',
    'products.edition_id, products.name_folded',
    'locations.edition_id, locations.name_folded',
    'variants.product_id, variants.name_folded',
    'options.product_id, options.name_folded',
  ].map((columns) => [columns, () => new LostRace('another request created the same row')]),
)

function listAddresses(group: readonly OrderEntry[]): ChannelAddress[] {
  const people = group.flatMap(({ order }) => [
    order.customer,
    ...order.items.flatMap(({ holder }) => (holder ? [{ ...holder, phone_number: null }] : [])),
  ])
  return people.flatMap(({ email, phone_number }) => [
    ...(email === null ? [] : [{ channel: 'email' as const, address: email }]),
    ...(phone_number === null ? [] : [{ channel: 'sms' as const, address: phone_number }]),
  ])
}

interface DecidedGroup {
  state: ImportState
  context: DecisionContext
  decision: GroupDecision
}

const buildStateQuery = (run: ImportRun, group: readonly OrderEntry[]): [LoadScope, ExternalOrder[], ExtraReads] => {
  const { edition, source, changeable, on_duplicate } = run
  return [
    {
      organization_id: edition.organization_id,
      edition_id: edition.id,
      source,
      erasure_key: edition.erasure_key,
      changeable,
    },
    group.map(({ order }) => order),
    { contents: on_duplicate === 'update', hashes: !run.dry_run },
  ]
}

/** Also reads the names of the edition's products if an order of a call would create one. Users of files are asked. */
async function loadGroupState(ctx: JobCtx, run: ImportRun, group: readonly OrderEntry[]): Promise<ImportState> {
  const state = await loadImportState(ctx.db, ...buildStateQuery(run, group))
  const createsProduct = group.some(
    (entry) => !isFromFile(entry) && entry.order.items.some(({ product }) => !state.products.has(fold(product))),
  )
  if (!createsProduct) return state
  const products = await ctx.db.all(
    sql<{ name: string }>`select name from products where edition_id = ${run.edition.id}
      and merged_into_id is null limit ${maxProducts}`,
  )
  return { ...state, product_names: products.map(({ name }) => name) }
}

/**
 * Reads the state of a group at the end of the transaction that writes the group before it. When that group found no
 * suppression that is stored by its hash, this is not read again, because each transaction aborts if there is one.
 */
export function readGroupInTransaction(
  run: ImportRun,
  group: readonly OrderEntry[],
  previousState: Pick<ImportState, 'has_hashes'>,
): TransactionRead<ImportState> {
  const [scope, orders, reads] = buildStateQuery(run, group)
  if (previousState.has_hashes !== false) return readImportStateInTransaction(scope, orders, reads)
  const { statements, rows } = readImportStateInTransaction(scope, orders, { ...reads, hashes: false })
  return { statements, rows: () => ({ ...rows(), has_hashes: false }) }
}

function decideGroup(ctx: JobCtx, run: ImportRun, group: readonly OrderEntry[], state: ImportState): DecidedGroup {
  const { edition, source, on_duplicate } = run
  const context = { edition, source, import_id: run.import_id, now: ctx.now(), newId: ctx.newId }
  return { context, state, decision: decideOrderGroup(context, on_duplicate, state, group) }
}

/** Restores suppressions of the addresses, or aborts the transaction if there are some to restore since the read. */
async function buildSuppressionRestores(
  { edition: { organization_id } }: ImportRun,
  { state }: DecidedGroup,
  group: readonly OrderEntry[],
): Promise<Statement[]> {
  if (state.has_hashes === false) return [abortUnless(sql`not ${hasSuppressionHashes(organization_id)}`)]
  return restoreSuppressions(organization_id, listAddresses(group))
}

interface AnswerParts {
  suppressions: readonly Statement[]
  answers: readonly DecidedAnswer[]
  /** The e-mails that ask people who unsubscribed to confirm what they agreed to. */
  returns: readonly Statement[]
}

/** Suppressions are restored before the answers to consents are written. */
function buildGroupStatements(
  ctx: JobCtx,
  run: ImportRun,
  { context, decision }: DecidedGroup,
  { suppressions, answers, returns }: AnswerParts,
): Statement[] {
  const { edition, changeable, receipt_message } = run
  const scope = { organization_id: edition.organization_id, edition_id: edition.id, changeable, now: context.now }
  const listAnnouncements = () => [
    ...buildImportAnnouncements(context, decision),
    ...answers.flatMap(buildAnswerAnnouncements),
  ]
  return [
    ...buildImportStatements(scope, decision.writes),
    ...suppressions,
    ...buildAnswerStatements(answers),
    ...(run.emit_webhooks ? announceAll(ctx, listAnnouncements()) : []),
    ...(receipt_message === null ? [] : buildReceiptStatements(ctx, edition, receipt_message, decision.receipts)),
    ...returns,
  ]
}

export interface GroupPlan {
  outcomes: readonly OrderOutcome[]
  decision: GroupDecision
  /** Empty when nothing is written. */
  statements: readonly Statement[]
  has_hashes: boolean | undefined
}

/**
 * Decides on a group of orders with different external ids, and builds the statements that write them with their
 * consents, events and receipts. When another request was faster, the statements fail by a unique index of `races` or
 * by a guard. `loadedState` was read before, maybe for more orders.
 */
export async function planGroup(
  ctx: JobCtx,
  run: ImportRun,
  group: readonly OrderEntry[],
  loadedState?: ImportState,
): Promise<GroupPlan> {
  const { edition, definitions, import_id, source, false_means_skipped } = run
  const decidedGroup = decideGroup(ctx, run, group, loadedState ?? (await loadGroupState(ctx, run, group)))
  const { decision, state } = decidedGroup
  const { outcomes, writes, answers: importedAnswers } = decision
  const plan = { outcomes, decision, has_hashes: state.has_hashes }
  const answerImport = { edition, definitions, import_id, source, false_means_skipped }
  const { answers, givenAnswers } = await decideImportedAnswers(ctx, answerImport, importedAnswers)
  const returns =
    run.receipt_message === null ? [] : await buildReturnStatements(ctx, edition.organization_id, givenAnswers)
  if (writes.length === 0 && answers.length === 0) return { ...plan, statements: [] }
  const suppressions = await buildSuppressionRestores(run, decidedGroup, group)
  return { ...plan, statements: buildGroupStatements(ctx, run, decidedGroup, { suppressions, answers, returns }) }
}

/** Statements about the import that belong to a group's transaction. `confirm` is called after the commit. */
export interface GroupRecord {
  statements: readonly Statement[]
  confirm: () => void
}

/** Builds the record of a group for the group's own transaction. */
type RecordGroup = (plan: GroupPlan) => Promise<GroupRecord>

/** Writes a group. After a lost race, each of its orders is tried alone, up to `maxTries` times. */
async function importGroup(
  ctx: Ctx,
  run: ImportRun,
  group: readonly OrderEntry[],
  recordGroup: RecordGroup,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const plan = await planGroup(ctx, run, group)
    const { statements, confirm } = await recordGroup(plan)
    try {
      await commitPart(ctx, [...plan.statements, ...statements], races)
      return confirm()
    } catch (error) {
      if (!(error instanceof LostRace) || (group.length === 1 && tries === maxTries)) throw error
      if (group.length === 1) continue
      for (const entry of group) await importGroup(ctx, run, [entry], recordGroup)
      return
    }
  }
}

export const previewGroup = async (ctx: JobCtx, run: ImportRun, group: readonly OrderEntry[]): Promise<GroupDecision> =>
  decideGroup(ctx, run, group, await loadGroupState(ctx, run, group)).decision

/** Previews orders in groups. Orders that earlier groups would create count as existing. */
export async function previewOrders(ctx: Ctx, run: ImportRun, orders: readonly OrderEntry[]): Promise<OrderOutcome[]> {
  const previewedOrders = new Map<string, OrderRow>()
  const previewedProducts = new Map<string, ProductRow>()
  const outcomes: OrderOutcome[] = []
  for (const group of groupOrders(orders)) {
    const state = await loadGroupState(ctx, run, group)
    const { decision } = decideGroup(ctx, run, group, {
      ...state,
      orders: new Map([...state.orders, ...previewedOrders]),
      products: new Map([...state.products, ...previewedProducts]),
      product_names: state.product_names && [
        ...state.product_names,
        ...[...previewedProducts.values()].map(({ name }) => name),
      ],
    })
    for (const product of listInsertedRows(decision.writes, 'products'))
      previewedProducts.set(product.name_folded, product)
    for (const order of decision.orders) previewedOrders.set(order.external_id ?? '', order)
    outcomes.push(...decision.outcomes)
  }
  const createdIds = new Set<string | null>()
  for (const { action, order_id } of outcomes) if (action === 'created') createdIds.add(order_id)
  return outcomes.map((outcome) => {
    if (!createdIds.has(outcome.order_id)) return outcome
    // An order of this call is not stored yet, so nothing can be compared with it.
    const warnings = outcome.warnings.filter(({ code }) => code !== 'other_customer' && code !== 'other_items')
    return { ...outcome, order_id: null, warnings }
  })
}

/** Writes orders into an edition, each completely or not at all, in groups that are one transaction each. */
export async function importOrders(
  ctx: Ctx,
  run: ImportRun,
  orders: readonly OrderEntry[],
  recordGroup: RecordGroup,
): Promise<void> {
  for (const group of groupOrders(orders)) await importGroup(ctx, run, group, recordGroup)
}
