import type { TargetMapping } from '../../../src/domain/data-imports/mapping/index.ts'
import { utf8 } from '../../../src/domain/text/encoding.ts'
import { type WholeFile, readWholeFile } from './whole-file.ts'

export const encodeLines = (lines: readonly string[]) => utf8(lines.map((line) => `${line}\r\n`).join(''))

export const sheet = (lines: readonly string[], answers: TargetMapping[] = []): Promise<WholeFile> =>
  readWholeFile(encodeLines(lines), answers)

export const mapColumn = (target: string, column: number): TargetMapping => ({ target, columns: [column] })

/** The suggested target of each header. */
export const listTargets = ({ columns }: WholeFile): Record<string, string> =>
  Object.fromEntries(columns.map((column) => column.replace(/,? \d\.?\d* by .*$|, 1 by .*$/, '').split(' = ')))

export const listSuggested = async (header: string, ...rows: string[]) => listTargets(await sheet([header, ...rows]))

interface ShownItem {
  product: string
  quantity: number
  unit_price_minor?: number
  line_total_minor?: number
}

export const describeItems = ({ orders }: WholeFile): unknown[] =>
  (orders ?? []).flatMap((order) => {
    const { errors, items } = order as { errors?: string[]; items: ShownItem[] }
    return (
      errors ??
      items.map((item) => `${item.quantity} ${item.product} ${item.unit_price_minor ?? `= ${item.line_total_minor}`}`)
    )
  })
