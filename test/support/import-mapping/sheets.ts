import type { TargetMapping } from '../../../src/domain/data-imports/mapping/index.ts'
import { utf8 } from '../../../src/domain/text/encoding.ts'
import { type WholeFile, wholeFile } from './whole-file.ts'

export const bytesOf = (lines: readonly string[]) => utf8(lines.map((line) => `${line}\r\n`).join(''))

export const sheet = (lines: readonly string[], answers: TargetMapping[] = []): Promise<WholeFile> =>
  wholeFile(bytesOf(lines), answers)

export const mapColumn = (target: string, column: number): TargetMapping => ({ target, columns: [column] })

/** The suggested target of each header. */
export const targetsOf = ({ columns }: WholeFile): Record<string, string> =>
  Object.fromEntries(columns.map((column) => column.replace(/,? \d\.?\d* by .*$|, 1 by .*$/, '').split(' = ')))

export const suggested = async (header: string, ...rows: string[]) => targetsOf(await sheet([header, ...rows]))

interface ShownItem {
  product: string
  quantity: number
  unit_price_minor?: number
  line_total_minor?: number
}

export const itemsOf = ({ orders }: WholeFile): unknown[] =>
  (orders ?? []).flatMap((order) => {
    const { errors, items } = order as { errors?: string[]; items: ShownItem[] }
    return (
      errors ??
      items.map((item) => `${item.quantity} ${item.product} ${item.unit_price_minor ?? `= ${item.line_total_minor}`}`)
    )
  })
