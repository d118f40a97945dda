import { describe, expect, it } from 'vitest'
import { suggestImport } from '../../src/domain/import-mapping/index.ts'
import { statisticsOf } from '../../src/domain/import-mapping/columns/statistics.ts'
import { headerKey } from '../../src/domain/import-mapping/targets/headers.ts'
import { headerRows, type HeaderRow } from '../support/import-mapping/headers.ts'
import { consents } from '../support/import-mapping/read-file.ts'

const columnsOf = (row: HeaderRow) =>
  row.columns.map(([header, , ...cells]) => ({ header, statistics: statisticsOf(cells) }))

function suggested(row: HeaderRow): (string | null)[] {
  const { mappings } = suggestImport({ columns: columnsOf(row), consents })
  return row.columns.map((_, index) => mappings.find(({ columns }) => columns.includes(index))?.target ?? null)
}

const columns = (headers: readonly string[], cells: readonly (readonly string[])[] = []) =>
  headers.map((header, index) => ({ header, statistics: cells[index] ? statisticsOf(cells[index]) : null }))

const targetsOf = (headers: readonly string[], history?: ReadonlyMap<string, string | null>) =>
  suggestImport({ columns: columns(headers), consents, ...(history ? { history } : {}) }).mappings.map(
    ({ target, reason }) => [target, reason],
  )

describe('suggestions for header rows of six languages', () => {
  it.each(headerRows.map((row) => [row.name, row] as const))('are never wrong: %s', (_, row) => {
    const wrong = suggested(row).flatMap((target, index) => {
      const [header, expected] = row.columns[index] ?? []
      return target !== null && target !== expected ? [{ header, target, expected }] : []
    })
    expect(wrong).toEqual([])
  })

  it('find nearly all that there is', () => {
    const missed: string[] = []
    let all = 0
    for (const row of headerRows)
      suggested(row).forEach((target, index) => {
        const [header, expected] = row.columns[index] ?? []
        if (expected === null || expected === undefined) return
        all++
        if (target === null) missed.push(`${row.name}: ${header} is ${expected}`)
      })
    console.info(`Found ${all - missed.length} of ${all} targets of ${headerRows.length} header rows.`, missed)
    expect(headerRows.length).toBeGreaterThanOrEqual(40)
    expect(missed.length / all).toBeLessThan(0.05)
  })

  it('give no target to two columns, and no confidence below 0.75', () => {
    for (const row of headerRows) {
      const { mappings } = suggestImport({ columns: columnsOf(row), consents })
      expect(new Set(mappings.map(({ target }) => target)).size).toBe(mappings.length)
      const used = mappings.flatMap((mapping) => mapping.columns)
      expect(new Set(used).size).toBe(used.length)
      expect(mappings.every(({ confidence }) => confidence >= 0.75 && confidence <= 1)).toBe(true)
    }
  })
})

describe('suggestions', () => {
  it('say why they were made', () => {
    expect(targetsOf(['customer.email', 'order id', 'Ticket_Type', 'Telephon number'])).toEqual([
      ['customer.email', 'exact'],
      ['order.external_id', 'alias'],
      ['item.product', 'normalised'],
      ['customer.phone_number', 'near'],
    ])
  })

  it('remember what the organisation mapped before, and what it left out', () => {
    const history = new Map([
      [headerKey('Wer?'), 'customer.full_name'],
      [headerKey('E-Mail'), null],
      [headerKey('Kontakt Mail'), 'customer.email'],
      [headerKey('Old'), 'consent.gone'],
    ])
    expect(targetsOf(['wer', 'E-Mail', 'KONTAKT-MAIL', 'Old'], history)).toEqual([
      ['customer.full_name', 'history'],
      ['customer.email', 'history'],
    ])
  })

  it('bring a value map for statuses and for yes and no', () => {
    const { mappings } = suggestImport({
      columns: columns(['Status', 'Nyhedsbrev'], [
        ['Betalt', 'Afventer', 'Aflyst', 'Betalt', 'Specialpris'],
        ['Ja', 'Nej', 'Ja tak'],
      ]),
      consents,
    })
    expect(mappings.map(({ target, value_map }) => [target, value_map])).toEqual([
      ['order.status', { Betalt: { to: 'completed' }, Afventer: { to: 'pending' }, Aflyst: { to: 'cancelled' } }],
      ['consent.marketing', { Ja: { to: 'true' }, Nej: { to: 'false' }, 'Ja tak': { to: 'true' } }],
    ])
  })

  it('suggest no consent where the edition has two for marketing', () => {
    const two = [...consents, { key: 'sms', name: 'SMS', type: 'marketing' }]
    expect(suggestImport({ columns: columns(['Newsletter', 'SMS']), consents: two }).mappings).toMatchObject([
      { target: 'consent.sms', columns: [1] },
    ])
  })

  it('survive headers of any kind', () => {
    const headers = ['', ' ', '__proto__', 'constructor', '💥', 'x'.repeat(5000), '\u0000', '1', '((((', '[a](b)']
    expect(suggestImport({ columns: columns(headers) }).mappings).toEqual([])
  })
})
