import { sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../context.ts'
import { commitPart, type TransactionRead, abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { LostRace } from '../../domain/errors.ts'
import { type DuplicatePolicy, type ExternalOrder, maxUnitsPerOrder } from '../../domain/orders/external-orders.ts'
import type { ChannelAddress } from '../../domain/messaging/suppressions.ts'
import {
  type DecidedAnswer,
  answerAnnouncements,
  answerRaces,
  answerStatements,
  importedAnswers,
  type ImportDefinitions,
} from '../consents/index.ts'
import { hasHashes, restoredSuppressions } from '../suppressions/index.ts'
import { receiptStatements } from '../transactional-emails/index.ts'
import { announceAll } from '../webhooks/index.ts'
import { announcementsOf } from './announcements.ts'
import { decide, type GroupDecision } from './decide.ts'
import type { NumberedOrder, OrderOutcome } from './judge.ts'
import { type ImportState, loadState, type LoadScope, type Reads, readStateWithin } from './state.ts'
import { statementsOf } from './statements.ts'
import type { DecisionContext, ImportEdition } from './writes.ts'
import type { OrderRow } from '../../db/schema/sales/orders.ts'

/** What all orders of an import share. */
export interface ImportRun {
  edition: ImportEdition
  /** Name of the other system. */
  source: string
  on_duplicate: DuplicatePolicy
  /** Answers what would happen and writes nothing. */
  dry_run: boolean
  /** Null for a dry run. */
  import_id: string | null
  /** Editions whose customers the import may change; null for all of the organisation. */
  changeable: readonly string[] | null
  definitions: ImportDefinitions
  /** What false in an order's consents means: that the question was shown and skipped, or nothing. */
  skipped: boolean
  emit_webhooks: boolean
  /** The message of the receipts; null when none are sent. */
  receipt_message: string | null
  /** Reads what an undo puts back: without this `recorded` of a decision lacks what updates replace. */
  with_before?: boolean
}

/** Orders that one transaction takes in, of no more units than one order may have; when it fails, they go one by one. */
const groupSize = 25
const maxTries = 5

/** Orders in their sequence, in groups that have no external id twice. */
function groupsOf(orders: readonly NumberedOrder[]): NumberedOrder[][] {
  const groups: NumberedOrder[][] = []
  let units = 0
  let ids = new Set<string>()
  for (const numbered of orders) {
    const { items, external_id } = numbered.order
    const own = items.reduce((count, item) => count + item.quantity, 0)
    const group = groups.at(-1)
    const fits = group && group.length < groupSize && units + own <= maxUnitsPerOrder && !ids.has(external_id)
    if (fits) group.push(numbered)
    else {
      groups.push([numbered])
      units = 0
      ids = new Set()
    }
    units += own
    ids.add(external_id)
  }
  return groups
}

/** A violated uniqueness means that another call made the same order, customer or product a moment ago. */
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
  ].map((columns) => [columns, () => new LostRace('somebody made it meanwhile')]),
)

function addressesOf(group: readonly NumberedOrder[]): ChannelAddress[] {
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

/** What a group of orders is decided over: where it stands, its orders, and how much of them is read. */
const stateArguments = (run: ImportRun, group: readonly NumberedOrder[]): [LoadScope, ExternalOrder[], Reads] => {
  const { edition, source, changeable, on_duplicate } = run
  return [
    { organization_id: edition.organization_id, edition_id: edition.id, source, changeable },
    group.map(({ order }) => order),
    { contents: on_duplicate === 'update', hashes: !run.dry_run },
  ]
}

const loadStateOf = (ctx: JobCtx, run: ImportRun, group: readonly NumberedOrder[]): Promise<ImportState> =>
  loadState(ctx.db, ...stateArguments(run, group))

/**
 * Reads what a group will be decided over at the end of the transaction before it. Where nothing was suppressed by a
 * hash then, this is not read again: each transaction aborts unless it still holds.
 */
export function readGroupWithin(
  run: ImportRun,
  group: readonly NumberedOrder[],
  before: Pick<ImportState, 'has_hashes'>,
): TransactionRead<ImportState> {
  const [scope, orders, reads] = stateArguments(run, group)
  if (before.has_hashes !== false) return readStateWithin(scope, orders, reads)
  const { statements, rows } = readStateWithin(scope, orders, { ...reads, hashes: false })
  return { statements, rows: () => ({ ...rows(), has_hashes: false }) }
}

function decideGroup(ctx: JobCtx, run: ImportRun, group: readonly NumberedOrder[], state: ImportState): DecidedGroup {
  const { edition, source, on_duplicate } = run
  const context = { edition, source, import_id: run.import_id, now: ctx.now(), newId: ctx.newId }
  return { context, state, decision: decide(context, on_duplicate, state, group) }
}

/** What is suppressed again; where nothing can be, that this still holds. */
async function suppressedAgain(
  { edition: { organization_id } }: ImportRun,
  { state }: DecidedGroup,
  group: readonly NumberedOrder[],
): Promise<Statement[]> {
  if (state.has_hashes === false) return [abortUnless(sql`not ${hasHashes(organization_id)}`)]
  return restoredSuppressions(organization_id, addressesOf(group))
}

/** All that a group writes; what is suppressed again comes before what its orders say of consents. */
function statementsOfGroup(
  ctx: JobCtx,
  run: ImportRun,
  { context, decision }: DecidedGroup,
  read: { suppressed: readonly Statement[]; answers: readonly DecidedAnswer[] },
): Statement[] {
  const { edition, changeable, receipt_message } = run
  const scope = { organization_id: edition.organization_id, edition_id: edition.id, changeable, now: context.now }
  const announced = () => [...announcementsOf(context, decision), ...read.answers.flatMap(answerAnnouncements)]
  return [
    ...statementsOf(scope, decision.writes, decision.lists),
    ...read.suppressed,
    ...answerStatements(read.answers),
    ...(run.emit_webhooks ? announceAll(ctx, announced()) : []),
    ...(receipt_message === null ? [] : receiptStatements(ctx, edition, receipt_message, decision.receipts)),
  ]
}

/** What becomes of a group of orders, and the statements that make it so. */
export interface Plan {
  outcomes: readonly OrderOutcome[]
  decision: GroupDecision
  /** For one transaction; none where nothing is to be written. */
  statements: readonly Statement[]
  /** As in `ImportState`. */
  has_hashes: boolean | undefined
}

/**
 * Decides on a group of orders of which no two have the same external id, with their consents, events and receipts. The
 * transaction of its statements fails by a violated uniqueness of `races`, or a guard, where somebody else was faster.
 * `known` is what was read for these orders, maybe among others.
 */
export async function planGroup(
  ctx: JobCtx,
  run: ImportRun,
  group: readonly NumberedOrder[],
  known?: ImportState,
): Promise<Plan> {
  const { edition, definitions, import_id, source, skipped } = run
  const decided = decideGroup(ctx, run, group, known ?? (await loadStateOf(ctx, run, group)))
  const { decision, state } = decided
  const { outcomes, writes, answers: given } = decision
  const plan = { outcomes, decision, has_hashes: state.has_hashes }
  const answerImport = { edition, definitions, import_id, source, skipped }
  const answers = await importedAnswers(ctx, answerImport, given)
  if (writes.length === 0 && answers.length === 0) return { ...plan, statements: [] }
  const suppressed = await suppressedAgain(run, decided, group)
  return { ...plan, statements: statementsOfGroup(ctx, run, decided, { suppressed, answers }) }
}

/** Writes a group in one transaction; where somebody else was faster, once more, and then each order by itself. */
async function importGroup(
  ctx: Ctx,
  run: ImportRun,
  group: readonly NumberedOrder[],
): Promise<readonly OrderOutcome[]> {
  for (let tries = 1; ; tries++) {
    const { outcomes, statements } = await planGroup(ctx, run, group)
    try {
      await commitPart(ctx, statements, races)
      return outcomes
    } catch (error) {
      if (!(error instanceof LostRace) || (group.length === 1 && tries === maxTries)) throw error
      if (group.length === 1) continue
      const single: OrderOutcome[] = []
      for (const one of group) single.push(...(await importGroup(ctx, run, [one])))
      return single
    }
  }
}

/** What the orders of a group, of which no two have the same external id, would become. */
export const previewGroup = async (
  ctx: JobCtx,
  run: ImportRun,
  group: readonly NumberedOrder[],
): Promise<GroupDecision> => decideGroup(ctx, run, group, await loadStateOf(ctx, run, group)).decision

/** What would become of the orders, each after those before it. */
async function previewOrders(ctx: Ctx, run: ImportRun, orders: readonly NumberedOrder[]): Promise<OrderOutcome[]> {
  const imagined = new Map<string, OrderRow>()
  const outcomes: OrderOutcome[] = []
  for (const group of groupsOf(orders)) {
    const state = await loadStateOf(ctx, run, group)
    const { decision } = decideGroup(ctx, run, group, {
      ...state,
      orders: new Map([...state.orders, ...imagined]),
    })
    for (const order of decision.orders) imagined.set(order.external_id ?? '', order)
    outcomes.push(...decision.outcomes)
  }
  const made = new Set<string | null>()
  for (const { action, order_id } of outcomes) if (action === 'created') made.add(order_id)
  return outcomes.map((outcome) => (made.has(outcome.order_id) ? { ...outcome, order_id: null } : outcome))
}

/**
 * Writes orders into an edition, each whole or not at all, and answers what became of each. When this is cut off in the
 * middle, the same call again skips what is there and goes on.
 */
export async function importOrders(
  ctx: Ctx,
  run: ImportRun,
  orders: readonly NumberedOrder[],
): Promise<OrderOutcome[]> {
  const outcomes: OrderOutcome[] = []
  if (run.dry_run) outcomes.push(...(await previewOrders(ctx, run, orders)))
  else for (const group of groupsOf(orders)) outcomes.push(...(await importGroup(ctx, run, group)))
  return outcomes.toSorted((one, other) => one.index - other.index)
}
