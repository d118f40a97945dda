import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countCells } from '../../src/domain/data-imports/mapping/columns/statistics.ts'
import { listAliasTexts, suggestImport, buildTargetFields } from '../../src/domain/data-imports/mapping/index.ts'
import { buildHeaderKey } from '../../src/domain/data-imports/mapping/targets/aliases.ts'
import { presentTargetFields } from '../../src/modules/data-imports/columns/present-columns.ts'
import headers from '../support/import-mapping/headers.json'
import otherHeaders from '../support/import-mapping/other-headers.json'
import { publishedHeaders } from '../support/import-mapping/published-headers.ts'
import { consents } from '../support/import-mapping/read-file.ts'

/** Header rows as people write them; the target is null for a column without one. */
interface HeaderRow {
  name: string
  columns: { header: string; target: string | null; cells: string[] }[]
}

const headerRows: readonly HeaderRow[] = headers

const buildColumns = (row: HeaderRow) =>
  row.columns.map(({ header, cells }) => ({ header, statistics: countCells(cells) }))

function suggested(row: HeaderRow) {
  const { mappings } = suggestImport({ columns: buildColumns(row), consents })
  return row.columns.map(({ header, target: expected }, index) => {
    const target = mappings.find((mapping) => mapping.columns.includes(index))?.target ?? null
    return { header, expected, target }
  })
}

const columns = (names: readonly string[], cells: readonly (readonly string[])[] = []) =>
  names.map((header, index) => ({ header, statistics: cells[index] ? countCells(cells[index]) : null }))

const suggestTargets = (names: readonly string[], history?: ReadonlyMap<string, string | null>) =>
  suggestImport({ columns: columns(names), consents, ...(history ? { earlierTargets: history } : {}) }).mappings.map(
    ({ target, reason }) => [target, reason],
  )

describe('a column with a known header', () => {
  const suggestFor = (header: string, cells: readonly string[]) =>
    suggestImport({ columns: columns([header], [cells]), consents }).mappings.map(({ target }) => target)

  it('is suggested although some of its cells do not fit', () => {
    expect(suggestFor('Antal', ['2', '3', 'to', '2'])).toEqual(['item.quantity'])
    expect(suggestFor('Stykpris', ['100,00', 'ukendt', '50,00', '?'])).toEqual(['item.unit_price'])
    expect(suggestFor('Ordredato', ['15-01-2026', 'i går', '16-01-2026'])).toEqual(['order.created'])
  })

  it('is not suggested if most of its cells do not fit', () => {
    expect(suggestFor('Antal', ['to', 'tre', 'to', '2'])).toEqual([])
  })

  it('is suggested for the fee of an order', () => {
    expect(suggestFor('Total Fee', ['12.50', '0.00', '3.00'])).toEqual(['order.service_fee'])
    expect(suggestFor('fee_total', ['12.50', '0.00', '3.00'])).toEqual(['order.service_fee'])
  })
})

describe('the columns of a file beside each other', () => {
  const suggestFor = (table: Readonly<Record<string, readonly string[]>>) => {
    const names = Object.keys(table)
    const { mappings } = suggestImport({ columns: columns(names, Object.values(table)), consents })
    return names.map((_, index) => mappings.find((mapping) => mapping.columns.includes(index))?.target ?? null)
  }
  const order = ['A-1', 'A-1', 'A-2', 'A-3']
  const mail = ['ida@example.com', 'ida@example.com', 'bo@example.com', 'cy@example.com']

  it.each([
    ['Prénom', 'Nom', 'customer.last_name'],
    ['Prénom payeur', 'Nom payeur', 'customer.last_name'],
    ['Purchaser first name', 'Purchaser name', 'customer.last_name'],
    ['Apellidos', 'Nombre', 'customer.first_name'],
    ['Cognome', 'Nome', 'customer.first_name'],
  ])('say which part of the name is meant: %s, %s', (part, bare, target) => {
    expect(suggestFor({ [part]: ['Ida', 'Bo', 'Cy', 'Dee'], [bare]: ['Holm', 'Berg', 'Lund', 'Dahl'] })[1]).toBe(target)
  })

  it('leave a full name alone beside its first name', () => {
    const names = { 'First name': ['Ida', 'Bo', 'Cy'], Name: ['Ida Holm', 'Bo Berg', 'Cy Lund'] }
    expect(suggestFor(names)).toEqual(['customer.first_name', null])
  })

  it('take the only kind of ticket for the product', () => {
    const tier = ['Stalls', 'Stalls', 'Balcony', 'Stalls']
    expect(suggestFor({ 'Order ID': order, 'Ticket tier': tier })[1]).toBe('item.product')
    expect(suggestFor({ 'Order ID': order, 'Ticket type': tier, 'Ticket tier': tier })[2]).toBe('item.variant')
    expect(suggestFor({ 'Order ID': order, 'Price category': ['', '', '', ''] })[1]).toBeNull()
  })

  it('show that the id of a ticket is that of its type', () => {
    expect(suggestFor({ 'Order ID': order, 'Ticket ID': ['11', '12', '11', '11'] })[1]).toBeNull()
    expect(suggestFor({ 'Order ID': order, 'Ticket ID': ['901', '902', '903', '904'] })[1]).toBe('item.vendor_code')
    expect(suggestFor({ 'Order ID': order, 'Ticket ID': ['901', '902', '903', ''] })[1]).toBe('item.vendor_code')
  })

  it('are known by each of two names for the same', () => {
    expect(suggestFor({ 'Phone / WhatsApp': ['+4520123456', '+4520123457'] })).toEqual(['customer.phone_number'])
    expect(suggestFor({ 'Name / Company': ['Ida Holm', 'Holm Ltd'] })).toEqual([null])
  })

  it('are never ids of orders because they are ids of people, or their telephone numbers', () => {
    expect(suggestFor({ 'Purchaser ID': ['p-101', 'p-101', 'p-102', 'p-103'], Email: mail })[0]).toBeNull()
    expect(
      suggestFor({ Number: ['+4520123456', '+4520123457', '+4520123458', '20 12 34 59'], Email: mail })[0],
    ).toBeNull()
    expect(suggestFor({ Number: ['20123456', '20123457', '20123458', '20123459'], Email: mail })[0]).toBeNull()
    expect(suggestFor({ Number: ['R7101', 'R7102', 'R7103', 'R7104'], Email: mail })[0]).toBe('order.external_id')
  })

  it.each([
    {
      headers: ['N° de commande', "Date d'achat", 'Statut', 'Montant de la commande'],
      statuses: ['Validé', 'Validé', 'Annulé', 'En attente'],
    },
    {
      headers: ['Número de pedido', 'Fecha de compra', 'Estado', 'Importe del pedido'],
      statuses: ['Pagado', 'Pagado', 'Anulado', 'Pendiente'],
    },
    {
      headers: ["Numero dell'ordine", 'Data ordine', 'Stato', "Totale dell'ordine"],
      statuses: ['Pagato', 'Pagato', 'Annullato', 'In attesa'],
    },
    {
      headers: ['Nº do pedido', 'Data da compra', 'Situação', 'Valor do pedido'],
      statuses: ['Pago', 'Pago', 'Cancelado', 'Pendente'],
    },
  ])('are known in French, Spanish, Italian and Portuguese: $headers', ({ headers: names, statuses }) => {
    const dates = ['17/04/2026', '17/04/2026', '18/04/2026', '21/04/2026']
    const cells = [order, dates, statuses, ['30,00', '30,00', '30,00', '5,00']]
    const table = Object.fromEntries(names.map((header, index) => [header, cells[index] ?? []]))
    expect(suggestFor(table)).toEqual(['order.external_id', 'order.created', 'order.status', 'order.amount'])
  })
})

it('shows the first hundred aliases of a target in less than 100 kB for all targets', () => {
  const fields = presentTargetFields([])
  expect(fields.find(({ key }) => key === 'order.external_id')?.aliases).toHaveLength(100)
  expect(JSON.stringify(fields).length).toBeLessThan(100_000)
})

describe('suggestions for header rows of six languages', () => {
  it.each(headerRows.map((row) => [row.name, row] as const))('are never wrong: %s', (_, row) => {
    expect(suggested(row).filter(({ target, expected }) => target !== null && target !== expected)).toEqual([])
  })

  it('find nearly all columns', () => {
    const all = headerRows.flatMap((row) => suggested(row).filter(({ expected }) => expected !== null))
    const missed = all.filter(({ target }) => target === null)
    console.info(`Found ${all.length - missed.length} of ${all.length} targets of ${headerRows.length} header rows.`)
    expect(headerRows.length).toBeGreaterThanOrEqual(40)
    expect(missed.length / all.length).toBeLessThan(0.05)
  })

  it.each(publishedHeaders.map((file) => [file.source, file] as const))(
    'are never wrong when only headers are known: %s',
    (_, file) => {
      const expected = Object.entries(file.columns)
      const { mappings } = suggestImport({ columns: columns(Object.keys(file.columns)) })
      const targets = mappings.map(({ target, columns: [column] }) => [expected[column ?? -1]?.[0], target])
      expect(expected).toEqual(expect.arrayContaining(targets))
      expect(targets.length / expected.filter(([, target]) => target !== null).length).toBeGreaterThan(0.65)
    },
  )

  it('use each target once, with a confidence of at least 0.75', () => {
    for (const row of headerRows) {
      const { mappings } = suggestImport({ columns: buildColumns(row), consents })
      expect(new Set(mappings.map(({ target }) => target)).size).toBe(mappings.length)
      const used = mappings.flatMap((mapping) => mapping.columns)
      expect(new Set(used).size).toBe(used.length)
      expect(mappings.every(({ confidence }) => confidence >= 0.75 && confidence <= 1)).toBe(true)
    }
  })
})

describe('a header that only looks like a target', () => {
  const tickets = {
    'Order ID': ['A1', 'A1', 'A2', 'A3'],
    'Order date': ['2026-01-01', '2026-01-01', '2026-01-02', '2026-01-03'],
    'Buyer email': ['a@example.com', 'a@example.com', 'b@example.com', 'c@example.com'],
    'Ticket type': ['Day', 'Week', 'Day', 'Day'],
    'Ticket price': ['100.00', '200.00', '100.00', '100.00'],
  }
  const names = otherHeaders.flatMap(({ cells, headers: list }) => list.split(' | ').map((name) => ({ name, cells })))

  it('gets no suggestion and takes none from another column', () => {
    const suggestedFor = names.flatMap(({ name, cells }) => {
      const file = columns([...Object.keys(tickets), name], [...Object.values(tickets), cells])
      const { mappings } = suggestImport({ columns: file, consents, now: Date.UTC(2026, 10, 21) })
      const used = mappings.flatMap((mapping) => mapping.columns).toSorted()
      return used.join() === '0,1,2,3,4' ? [] : [`${name}: ${used.join()}`]
    })
    expect(names.length).toBeGreaterThan(300)
    expect(suggestedFor).toEqual([])
  })
})

describe('two columns for one target', () => {
  const suggestedFor = (file: Readonly<Record<string, readonly string[]>>) =>
    Object.fromEntries(
      suggestImport({ columns: columns(Object.keys(file), Object.values(file)), consents }).mappings.map(
        ({ target, columns: [column] }) => [target, Object.keys(file)[column ?? -1]],
      ),
    )
  const order = ['A-1', 'A-1', 'A-1', 'A-2']
  const ticket = ['Day', 'Day', 'Week', 'Day']

  it('are the buyer’s and the ticket holder’s if one changes inside an order', () => {
    const buyer = ['a@example.com', 'a@example.com', 'a@example.com', 'd@example.com']
    const holder = ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com']
    const file = { Order: order, 'E-mail': holder, 'Email address': buyer, Ticket: ticket }
    expect(suggestedFor(file)).toMatchObject({ 'customer.email': 'Email address', 'item.user.email': 'E-mail' })
  })

  it('are used once if their cells are equal, or if one is mostly blank', () => {
    const phone = ['20123456', '20123457', '20123458', '20123459']
    expect(suggestedFor({ Phone: phone, Mobile: phone })).toEqual({ 'customer.phone_number': 'Phone' })
    expect(suggestedFor({ Phone: ['', '', '', '20123456'], Mobile: phone })).toEqual({
      'customer.phone_number': 'Mobile',
    })
    expect(suggestedFor({ Phone: phone, Mobile: phone.toReversed() })).toEqual({})
  })

  it('leave out an amount or a payment that changes inside an order', () => {
    const file = { Order: order, Ticket: ticket, 'Transaction ID': ['p-1', 'p-2', 'p-3', 'p-4'] }
    expect(suggestedFor(file)).not.toHaveProperty('order.payment_reference')
    expect(suggestedFor({ ...file, 'Transaction ID': ['p-1', 'p-1', 'p-1', 'p-2'] })).toHaveProperty([
      'order.payment_reference',
    ])
  })

  it('are told apart in a file with more orders than the statistics keep', () => {
    const rows = Array.from({ length: 300 }, (_, row) => ({ row, sale: Math.floor(row / 3) }))
    const file = {
      'Order ID': rows.map(({ sale }) => `A-${sale}`),
      Email: rows.map(({ row }) => `holder${row}@example.com`),
      'E-mail address': rows.map(({ sale }) => `buyer${sale}@example.com`),
      'Transaction ID': rows.map(({ row }) => `p-${row}`),
      Ticket: rows.map(() => 'Day'),
      Price: rows.map(() => '10.00'),
      Total: rows.map(({ row }) => (row % 3 === 0 ? '30.00' : '')),
    }
    expect(suggestedFor(file)).toEqual({
      'order.external_id': 'Order ID',
      'customer.email': 'E-mail address',
      'item.user.email': 'Email',
      'item.product': 'Ticket',
      'item.unit_price': 'Price',
      'order.amount': 'Total',
    })
  })

  it('are an order number and a price if the file has no better ones', () => {
    const payments = {
      'Transaction ID': ['7f1', '7f2', '7f3', '7f4'],
      Email: ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com'],
      Ticket: ticket,
      Amount: ['100.00', '100.00', '250.00', '100.00'],
    }
    expect(suggestedFor(payments)).toMatchObject({
      'order.external_id': 'Transaction ID',
      'item.line_total': 'Amount',
    })
    const several = { ...payments, Quantity: ['1', '2', '1', '1'] }
    expect(suggestedFor(several)).not.toHaveProperty(['item.line_total'])
  })
})

describe('suggestions', () => {
  it('compare headers in one normal form', () => {
    expect(suggestTargets(['\uFEFFCustomer.\u200BEmail ', 'Order   id', 'Fo\u00ADrnavn'])).toEqual([
      ['customer.email', 'exact'],
      ['order.external_id', 'alias'],
      ['customer.first_name', 'alias'],
    ])
    expect(suggestTargets(['Fo\u0308rnamn'])).toEqual([['customer.first_name', 'alias']])
  })

  it.each([
    ['Pris inkl. moms', 'item.unit_price'],
    ['Price (incl. VAT)', 'item.unit_price'],
    ['Ticket price EUR', 'item.unit_price'],
    ['Price (excl. VAT)', undefined],
    ['Name des Käufers', 'customer.full_name'],
    ['First Name (Billing)', 'customer.first_name'],
    ['First Name (Shipping)', undefined],
    ['Navn (levering)', undefined],
    ['Naam aanwezige: Voornaam', 'item.user.first_name'],
    ['Invoice address: Name: Family name', 'customer.last_name'],
    ['Buchungszeitpunkt', 'order.created'],
    ['Verkaufsdatum', 'order.created'],
    ['product_qty', 'item.quantity'],
  ])('read %s as %s', (header, target) => {
    expect(suggestTargets([header])[0]?.[0]).toBe(target)
  })

  it('include a column of statuses although most of its words are unknown', () => {
    const statuses = ['Payment settled', 'Cancelled', 'Payment settled', 'In review']
    const [status] = suggestImport({ columns: columns(['Order status'], [statuses]) }).mappings
    expect(status).toMatchObject({ target: 'order.status', value_map: { Cancelled: { to: 'cancelled' } } })
    expect(suggestImport({ columns: columns(['Order status'], [['VIP', 'Crew', 'Press']]) }).mappings).toEqual([])
  })

  it('include their reasons', () => {
    expect(suggestTargets(['customer.email', 'order id', 'Ticket_Type', 'Telephon number'])).toEqual([
      ['customer.email', 'exact'],
      ['order.external_id', 'alias'],
      ['item.product', 'normalised'],
      ['customer.phone_number', 'near'],
    ])
  })

  it('use the organisation’s earlier mapping, also for ignored columns', () => {
    const history = new Map([
      [buildHeaderKey('Wer?'), 'customer.full_name'],
      [buildHeaderKey('E-Mail'), null],
      [buildHeaderKey('Kontakt Mail'), 'customer.email'],
      [buildHeaderKey('Old'), 'consent.gone'],
    ])
    expect(suggestTargets(['wer', 'E-Mail', 'KONTAKT-MAIL', 'Old'], history)).toEqual([
      ['customer.full_name', 'history'],
      ['customer.email', 'history'],
    ])
  })

  it('ignore an earlier mapping when the values contradict it', () => {
    const history = new Map([[buildHeaderKey('Kontakt'), 'customer.email']])
    const targets = (cells: string[], header = 'Kontakt') =>
      suggestImport({ columns: [{ header, statistics: countCells(cells) }], earlierTargets: history }).mappings.map(
        ({ target, reason }) => `${target} by ${reason}`,
      )
    expect(targets(['ane@example.dk', '-'])).toEqual(['customer.email by history'])
    expect(targets(['20 12 34 56', '+45 20 12 34 57'])).toEqual([])
    expect(targets([])).toEqual(['customer.email by history'])
    history.set(buildHeaderKey('Price'), 'item.quantity').set(buildHeaderKey('Kunde'), 'customer.full_name')
    history.set(buildHeaderKey('E-mail'), 'customer.phone_number')
    expect(targets(['10,50', '7,00'], 'Price')).toEqual(['item.quantity by history'])
    expect(targets(['ane@example.dk'], 'E-mail')).toEqual(['customer.email by normalised'])
    expect(targets(['10234', '10235'], 'Kunde')).toEqual([])
  })

  it('include a value map for statuses and for yes and no', () => {
    const { mappings } = suggestImport({
      columns: columns(
        ['Status', 'Nyhedsbrev'],
        [
          ['Betalt', 'Afventer', 'Aflyst', 'Betalt', 'Specialpris'],
          ['Ja', 'Nej', 'Ja tak'],
        ],
      ),
      consents,
    })
    expect(mappings.map(({ target, value_map }) => [target, value_map])).toEqual([
      ['order.status', { Betalt: { to: 'completed' }, Afventer: { to: 'pending' }, Aflyst: { to: 'cancelled' } }],
      ['consent.marketing', { Ja: { to: 'true' }, Nej: { to: 'false' }, 'Ja tak': { to: 'true' } }],
    ])
  })

  it('include no consent when the edition has two for marketing', () => {
    const two = [...consents, { key: 'sms', name: 'SMS', type: 'marketing' }]
    expect(suggestImport({ columns: columns(['Newsletter', 'SMS']), consents: two }).mappings).toMatchObject([
      { target: 'consent.sms', columns: [1] },
    ])
  })

  it('use a column and a target once, for any headers', () => {
    const aliases = buildTargetFields(consents).flatMap(({ key }) => listAliasTexts(key))
    const strange = fc.string({ unit: 'binary', maxLength: 20 })
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...aliases), strange), { maxLength: 30 }), (some) => {
        const { mappings } = suggestImport({ columns: columns(some), consents })
        const used = mappings.flatMap((mapping) => mapping.columns)
        expect(new Set(used).size).toBe(used.length)
        expect(new Set(mappings.map(({ target }) => target)).size).toBe(mappings.length)
      }),
      { numRuns: 150 },
    )
  })

  it('handle headers of any kind', () => {
    const strange = ['', ' ', '__proto__', 'constructor', '💥', 'x'.repeat(5000), '\u0000', '1', '((((', '[a](b)']
    expect(suggestImport({ columns: columns(strange) }).mappings).toEqual([])
  })
})
