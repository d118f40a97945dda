import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { decideStatusAfterUndo, findKeptReason, type OrderFacts } from '../../src/domain/data-imports/import-undo.ts'
import { listTableNames } from '../support/dump.ts'

/** Tables from which the undo of an import deletes, with everything that refers to their rows and its fate. */
const references: Record<string, Record<string, string>> = {
  orders: {
    'purchases.order_id': 'goes before the order',
    'transactions.order_id': 'goes before the order',
    'transactional_emails.order_id': 'keeps the order',
    'refund_requests.order_id': 'keeps the order',
  },
  purchases: {
    'wallet_passes.purchase_id': 'keeps the order',
    'purchase_uses.purchase_id': 'keeps the order',
    'refund_items.purchase_id': 'keeps the order',
  },
  transactions: {
    'refund_requests.transaction_id': 'keeps the order',
  },
  users: {
    'edition_customers.user_seq': 'goes too, another edition’s keeps the person',
    'orders.user_id': 'keeps the person',
    'purchases.user_id': 'keeps the person',
    'campaign_receipts.user_id': 'keeps the person',
    'erasures.user_id': 'keeps the person',
    'transactional_emails.user_id': 'keeps the person',
    'refund_requests.user_id': 'keeps the person',
    'user_merges.into_id': 'keeps the person',
    'earlier_addresses.user_id': 'has a row of user_merges beside it, which keeps the person',
  },
}

interface Reference {
  target: string
  column: string
  plan: string
}

async function listReferences(): Promise<Reference[]> {
  const all: Reference[] = []
  for (const table of await listTableNames()) {
    const { results } = await env.DB.prepare(`select "table" as target, "from" as name from pragma_foreign_key_list(?)`)
      .bind(table)
      .all<{ target: string; name: string }>()
    for (const { target, name } of results.filter((item) => item.target in references)) {
      const query = `explain query plan select 1 from "${table}" where "${name}" = ?`
      const plan = await env.DB.prepare(query).bind('x').all<{ detail: string }>()
      all.push({ target, column: `${table}.${name}`, plan: plan.results[0]?.detail ?? '' })
    }
  }
  return all
}

describe('the columns that refer to orders, purchases, payments and customers', () => {
  it('are all known to the undo of imports', async () => {
    const columns = (await listReferences()).map(({ target, column }) => `${target} ${column}`)
    const knownColumns = Object.entries(references).flatMap(([target, of]) =>
      Object.keys(of).map((column) => `${target} ${column}`),
    )
    expect(columns.toSorted()).toEqual(knownColumns.toSorted())
  })

  it('have an index each, so that no deletion reads a whole table', async () => {
    const scans = (await listReferences()).filter(({ plan }) => !plan.startsWith('SEARCH'))
    expect(scans).toEqual([])
  })
})

const untouched: OrderFacts = {
  is_missing: false,
  has_erased_customer: false,
  order_version: 2,
  version: 2,
  has_refund: false,
  has_use: false,
  has_pass: false,
  has_email: false,
  has_later_answer: false,
  purchases: [{ id: 'a', status: 'active', version: 1 }],
  imported_versions: new Map([['a', 1]]),
  is_payment_changed: false,
  restorations: [],
}

describe('an order of an import', () => {
  it('is deleted when nothing changed it, and when its ticket expired by itself', () => {
    expect(findKeptReason(untouched)).toBeNull()
    expect(findKeptReason({ ...untouched, purchases: [{ id: 'a', status: 'expired', version: 2 }] })).toBeNull()
  })

  it.each([
    [{ is_missing: true }, 'order_missing'],
    [{ has_erased_customer: true }, 'customer_erased'],
    [{ version: 3 }, 'order_changed'],
    [{ purchases: [{ id: 'a', status: 'active', version: 2 }] }, 'purchase_changed'],
    [{ purchases: [] }, 'purchase_changed'],
    [{ purchases: [...untouched.purchases, { id: 'b', status: 'active', version: 1 }] }, 'purchase_changed'],
    [{ is_payment_changed: true }, 'payment_changed'],
    [{ has_use: true, version: 3 }, 'purchase_used'],
  ] satisfies [Partial<OrderFacts>, string][])('stays for a reason: %o', (facts, reason) => {
    expect(findKeptReason({ ...untouched, ...facts })).toBe(reason)
  })

  it('returns its purchases to their former status, unless they have expired since', () => {
    expect(decideStatusAfterUndo('cancelled', { status: 'active', valid_until: null }, 10)).toBe('active')
    expect(decideStatusAfterUndo('expired', { status: 'active', valid_until: 9 }, 10)).toBe('expired')
    expect(decideStatusAfterUndo('expired', { status: 'active', valid_until: 11 }, 10)).toBe('active')
  })
})
