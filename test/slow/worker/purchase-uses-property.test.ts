import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Ctx } from '../../../src/context.ts'
import { AppError } from '../../../src/domain/errors.ts'
import { sweepPurchases } from '../../../src/modules/purchases/jobs.ts'
import { createPurchaseUse } from '../../../src/modules/purchases/uses/create-use.ts'
import { revertPurchaseUse } from '../../../src/modules/purchases/uses/revert-use.ts'
import { findUsablePurchase, findUse } from '../../../src/modules/purchases/uses/use-queries.ts'
import type { Reply } from '../../support/api.ts'
import { createJob } from '../../support/campaigns.ts'
import { createContextAt } from '../../support/context.ts'
import { listAnnounced, loadPurchase, revert, scan, listUses } from '../../support/purchases.ts'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { db } from '../../support/seeding/rows.ts'
import { anOrder, seedShop, importOrders, type Shop } from '../../support/seeding/sales/orders.ts'
import { expectVerified } from '../../support/verified.ts'

afterAll(expectVerified)

checkSalesCounts()

type Operation =
  | { do: 'scan'; quantity: number }
  /** Returns the n-th use in the order of their creation, if it exists. */
  | { do: 'revert'; index: number }
  | { do: 'sweep' }
  | { do: 'import'; order: 'completed' | 'cancelled'; isOver: boolean }

type Step = { first: Operation; and: Operation | null; dies: 'before' | 'after' | null }

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('scan' as const), quantity: fc.constantFrom(1, 1, 1, 2) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('revert' as const), index: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('import' as const),
      order: fc.constantFrom('completed' as const, 'completed' as const, 'cancelled' as const),
      isOver: fc.boolean(),
    }),
  },
)

const aScan: fc.Arbitrary<Operation> = fc.record({
  do: fc.constant('scan' as const),
  quantity: fc.constantFrom(1, 1, 2),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  // There are two entrances with requests of their own, where a lost race shows first.
  { weight: 3, arbitrary: fc.record({ first: aScan, and: aScan, dies: fc.constant(null) }) },
  { weight: 3, arbitrary: fc.record({ first: operation, and: fc.constant(null), dies: fc.constant(null) }) },
  { weight: 3, arbitrary: fc.record({ first: operation, and: operation, dies: fc.constant(null) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      first: operation,
      and: fc.constant(null),
      dies: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
)

interface Model {
  status: string
  order: 'completed' | 'cancelled'
  limit: number | null
  isOver: boolean
  uses: { quantity: number; isReverted: boolean }[]
  events: string[]
}

const countOf = ({ uses }: Model) => uses.reduce((sum, use) => sum + (use.isReverted ? 0 : use.quantity), 0)

function scanned(model: Model, quantity: number): string {
  if (!['active', 'used'].includes(model.status)) return '409 purchase_not_usable'
  if (model.status === 'active' && model.isOver) return '409 purchase_not_usable'
  const remainingUses = model.limit === null ? Infinity : model.limit - countOf(model)
  if (model.status === 'used' || quantity > remainingUses) return '409 no_uses_left'
  model.status = quantity === remainingUses ? 'used' : 'active'
  model.uses.push({ quantity, isReverted: false })
  model.events.push(`used:${model.status}`)
  return '201'
}

function reverted(model: Model, index: number): string {
  const use = model.uses[index]
  if (!use) return '404 not_found'
  if (use.isReverted) return '200'
  if (!['active', 'used'].includes(model.status)) return '409 purchase_not_usable'
  use.isReverted = true
  model.status = model.order === 'cancelled' ? 'cancelled' : 'active'
  model.events.push(`use_reverted:${model.status}`)
  return '200'
}

function applyImport(model: Model, order: Model['order'], isOver: boolean): string {
  if (model.order === 'cancelled' && order === 'completed') return 'error'
  model.order = order
  if (['active', 'used'].includes(model.status)) model.isOver = isOver
  if (order === 'cancelled' && model.status === 'active') {
    model.status = 'cancelled'
    model.events.push('cancelled:cancelled')
  }
  return 'updated'
}

/** Predicts the answer of an operation and its effect on the model. */
function applied(before: Model, what: Operation): [answer: string, after: Model] {
  const model = structuredClone(before)
  if (what.do === 'scan') return [scanned(model, what.quantity), model]
  if (what.do === 'revert') return [reverted(model, what.index), model]
  if (what.do === 'import') return [applyImport(model, what.order, what.isOver), model]
  if (model.status === 'active' && model.isOver) {
    model.status = 'expired'
    model.events.push('expired:expired')
  }
  return ['swept', model]
}

const answerOf = ({ status, body }: Reply): string => (status < 400 ? String(status) : `${status} ${body.code}`)

class Dies extends Error {}

/** Makes a request whose process ends just before or just after its transaction. */
function createCrashingContext(when: 'before' | 'after'): Ctx {
  const ctx = createContextAt(Date.now())
  const batch = ctx.db.batch.bind(ctx.db)
  ctx.db.batch = async (statements) => {
    if (when === 'after') await batch(statements)
    throw new Dies()
  }
  return ctx
}

async function seedMachine(limit: number | null) {
  const shop: Shop = await seedShop()
  const item = { product: 'Day ticket', quantity: 1, unit_price: 225, uses_limit: limit ?? 1, is_unlimited_use: !limit }
  const order = anOrder({ created: '2026-01-01T10:00:00Z', items: [item] })
  await importOrders(shop, [order])
  const [row] = await db.all(sql<{ id: string }>`select id from purchases where edition_id = ${shop.edition_id}`)
  const id = row?.id ?? ''
  const findUseAt = async (index: number) => (await listUses(id))[index]?.id ?? 'use_none'
  const importOrder = async (status: string, isOver: boolean) => {
    const valid_until = isOver ? '2026-02-01T00:00:00Z' : '2100-01-01T00:00:00Z'
    const { body } = await importOrders(shop, [{ ...order, status, items: [{ ...item, valid_until }] }], {
      on_duplicate: 'update',
      emit_webhooks: true,
    })
    const { action } = body.results[0]
    // An order that the import would not change is skipped.
    return action === 'skipped' ? 'updated' : String(action)
  }
  const run = async (what: Operation): Promise<string> => {
    if (what.do === 'scan') return answerOf(await scan(id, { quantity: what.quantity }))
    if (what.do === 'revert') return answerOf(await revert(id, await findUseAt(what.index)))
    if (what.do === 'import') return importOrder(what.order, what.isOver)
    await sweepPurchases(createJob())
    return 'swept'
  }
  /** Resolves with whether the operation reached its transaction. */
  const runUntilCrash = async (what: Operation, when: 'before' | 'after'): Promise<boolean> => {
    const ctx = createCrashingContext(when)
    try {
      const sound = createContextAt(Date.now())
      if (what.do === 'scan')
        await createPurchaseUse(ctx, await findUsablePurchase(sound, id), { quantity: what.quantity })
      else if (what.do === 'revert') await revertPurchaseUse(ctx, await findUse(sound, id, await findUseAt(what.index)))
      else if (what.do === 'sweep') await sweepPurchases(ctx)
      return false
    } catch (error) {
      if (error instanceof AppError) return false
      if (error instanceof Dies) return true
      throw error
    }
  }
  return { id, shop, run, runUntilCrash }
}

type Machine = Awaited<ReturnType<typeof seedMachine>>

/** Reads the stored state in the form of the model. Uses of the same moment are in any order. */
async function loadState({ id, shop }: Machine) {
  const [row, uses] = [await loadPurchase(id), await listUses(id)]
  return {
    status: row.status,
    count: row.uses_count,
    uses: uses.map(({ quantity, reverted_at }) => `${quantity}${reverted_at === null ? '' : ' reverted'}`).toSorted(),
    events: (await listAnnounced({ id, shop })).toSorted(),
  }
}

const describeModel = (model: Model) => ({
  status: model.status,
  count: countOf(model),
  uses: model.uses.map(({ quantity, isReverted }) => `${quantity}${isReverted ? ' reverted' : ''}`).toSorted(),
  events: model.events.toSorted(),
})

/** The answers and the state of two simultaneous operations must be those of one of both orders. */
async function runBoth(machine: Machine, model: Model, first: Operation, second: Operation): Promise<Model> {
  const answers = await Promise.all([machine.run(first), machine.run(second)])
  const [a, one] = applied(model, first)
  const [b, oneTwo] = applied(one, second)
  const [c, two] = applied(model, second)
  const [d, twoOne] = applied(two, first)
  const outcomes = [
    { answers: [a, b], after: oneTwo },
    { answers: [d, c], after: twoOne },
  ]
  const actual = { answers, ...(await loadState(machine)) }
  const possible = outcomes.map((outcome) => ({ answers: outcome.answers, ...describeModel(outcome.after) }))
  expect(possible).toContainEqual(actual)
  const after = outcomes.find((_, at) => JSON.stringify(possible[at]) === JSON.stringify(actual))?.after
  // From here on, uses of the same moment are sorted by their ids.
  const uses = await listUses(machine.id)
  return {
    ...(after ?? model),
    uses: uses.map(({ quantity, reverted_at }) => ({ quantity, isReverted: reverted_at !== null })),
  }
}

async function runStep(machine: Machine, model: Model, { first, and, dies }: Step): Promise<Model> {
  if (and) return runBoth(machine, model, first, and)
  const [answer, after] = applied(model, first)
  if (dies && first.do !== 'import') {
    const isCommitted = (await machine.runUntilCrash(first, dies)) && dies === 'after'
    const finalModel = isCommitted ? after : model
    expect(await loadState(machine)).toEqual(describeModel(finalModel))
    return finalModel
  }
  expect(await machine.run(first)).toBe(answer)
  expect(await loadState(machine)).toEqual(describeModel(after))
  return after
}

describe('random uses of a purchase', () => {
  it('are counted exactly and announced once each, with any other changes of the purchase', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(1, 2, 2, 3, null),
        fc.array(step, { minLength: 4, maxLength: 14 }),
        async (limit, steps) => {
          const machine = await seedMachine(limit)
          let model: Model = { status: 'active', order: 'completed', limit, isOver: false, uses: [], events: [] }
          for (const nextStep of steps) model = await runStep(machine, model, nextStep)
        },
      ),
      { numRuns: 15 },
    )
  })
})
