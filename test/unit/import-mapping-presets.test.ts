import { describe, expect, it } from 'vitest'
import { suggestImport, type TargetMapping } from '../../src/domain/data-imports/mapping/index.ts'
import { buildHeaderKey } from '../../src/domain/data-imports/mapping/targets/aliases.ts'
import eventbriteReport from '../support/import-mapping/eventbrite-report.json'
import eventbriteSummary from '../support/import-mapping/eventbrite-summary.json'
import eventyay from '../support/import-mapping/eventyay.json'
import hiEvents from '../support/import-mapping/hi-events.json'
import luma from '../support/import-mapping/luma.json'
import mailchimp from '../support/import-mapping/mailchimp.json'
import pretixDanish from '../support/import-mapping/pretix-danish.json'
import pretixEnglish from '../support/import-mapping/pretix-english.json'
import pretixGerman from '../support/import-mapping/pretix-german.json'
import { summarise, parseColumns, consents, importFile } from '../support/import-mapping/read-file.ts'
import shopify from '../support/import-mapping/shopify.json'
import square from '../support/import-mapping/square.json'
import stripe from '../support/import-mapping/stripe.json'
import ticketTailor from '../support/import-mapping/ticket-tailor.json'
import tito from '../support/import-mapping/tito.json'
import woocommerce from '../support/import-mapping/woocommerce.json'

interface ExportedFile {
  delimiter: string
  text: string
  /** Mappings that the user adds because the file does not have them. */
  added: TargetMapping[]
  source: string | null
  group_by: string | null
  missing_required: string[]
  ambiguous: string[]
  unmapped_values: Record<string, string[]>
  orders: unknown[]
}

const files = Object.entries({
  eventbriteReport,
  eventbriteSummary,
  eventyay,
  hiEvents,
  luma,
  mailchimp,
  pretixDanish,
  pretixEnglish,
  pretixGerman,
  shopify,
  square,
  stripe,
  ticketTailor,
  tito,
  woocommerce,
}) as unknown as [string, ExportedFile][]

describe('an export of another system', () => {
  it.each(files)('makes the expected orders: %s', (_, file) => {
    const { suggestion, prepared, orders } = importFile(file.text, file.delimiter, file.added)
    expect(suggestion.detected_source?.source ?? null).toBe(file.source)
    expect(suggestion.group_by).toBe(file.group_by)
    expect(prepared.missing_required).toEqual(file.missing_required)
    expect(prepared.ambiguous.map(({ target }) => target)).toEqual(file.ambiguous)
    expect(prepared.unmapped_values).toEqual(file.unmapped_values)
    const decided = orders.map(({ order, errors, warnings }) =>
      order
        ? summarise(order)
        : { errors: errors.map((error) => `${error.row} ${error.target_field} ${error.code}`), warnings },
    )
    expect(decided).toEqual(file.orders)
  })

  it.each(files)('reports missing columns: %s', (_, file) => {
    const { prepared } = importFile(file.text, file.delimiter)
    const lacking = file.added.map(({ target }) => target.replace('item.line_total', 'item.unit_price'))
    expect(prepared.missing_required).toEqual(lacking)
  })

  it('has no preset when a header of its signature is missing', () => {
    const { columns } = parseColumns(shopify.text, ',')
    const without = columns.filter(({ header }) => header !== 'Lineitem name')
    expect(suggestImport({ columns: without, consents }).detected_source).toBeNull()
  })

  it('uses the organisation’s earlier mapping before a preset', () => {
    const { columns } = parseColumns(shopify.text, ',')
    const history = new Map([
      [buildHeaderKey('Billing Phone'), 'customer.phone_number'],
      [buildHeaderKey('Phone'), null],
    ])
    const { mappings } = suggestImport({ columns, consents, earlierTargets: history })
    const phone = mappings.filter(({ target }) => target === 'customer.phone_number')
    expect(phone.map((suggestion) => [suggestion.reason, columns[suggestion.columns[0] ?? -1]?.header])).toEqual([
      ['history', 'Billing Phone'],
    ])
  })
})
