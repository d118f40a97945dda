import { mapCustomer, type PlacedRow } from '../../../domain/data-imports/mapping/index.ts'
import type { FieldError } from '../../../domain/errors.ts'
import { checkUser, normalizeUserPhone, parseImportedUser, type UserEntry } from '../../user-import/index.ts'
import { parseStagedRow } from '../background/staged.ts'
import { buildImportProblem, type ImportProblem, parsePointer } from './problems.ts'
import { maxRowsPerOrder, type StagedOrder } from './read-orders.ts'
import type { RunSetting } from './setting.ts'

/** A customer of the file after the mapping, before anything is compared with the database. */
export interface FileCustomer {
  stagedOrder: StagedOrder
  rowNumbers: readonly number[]
  lines: readonly number[]
  ignoredRowNumbers: readonly number[]
  /** Null for a customer with a problem, who is not imported. */
  user: UserEntry['user'] | null
  problems: readonly ImportProblem[]
  warnings: readonly ImportProblem[]
}

type CustomerReading = Pick<FileCustomer, 'user' | 'problems' | 'warnings'>

/** Translates a pointer into a customer of `importUsers` to the target of a column. */
function findTarget([first = '', ...rest]: readonly string[]): string | null {
  if (first === '') return null
  return first === 'consents' ? `consent.${rest[0] ?? ''}` : ['customer', first, ...rest].join('.')
}

export const toCustomerProblem = (line: number, error: FieldError): ImportProblem =>
  buildImportProblem(line, findTarget(parsePointer(error.pointer ?? '#')), error.code, error.detail)

/** Maps the rows of a person and checks the result. `changeable` is null for roles of the organisation. */
export function readCustomer(
  { options, edition, definitions }: RunSetting,
  rows: readonly PlacedRow[],
  { changeable, now }: { changeable: readonly string[] | null; now: number },
): CustomerReading {
  const line = rows[0]?.line ?? 0
  const mapping = mapCustomer(rows, options)
  const warnings = mapping.warnings.map((one) => ({ ...one, column: null, target_field: null, value: null }))
  if (mapping.customer === null) return { user: null, problems: mapping.errors, warnings }
  const toProblems = (errors: readonly FieldError[]) => errors.map((error) => toCustomerProblem(line, error))
  const parseResult = parseImportedUser(mapping.customer, [])
  if ('errors' in parseResult) return { user: null, problems: toProblems(parseResult.errors), warnings }
  const phoneResult = normalizeUserPhone(parseResult.user, edition.default_country_code, [])
  const scope = { definitions, is_of_organization: changeable === null, now }
  const errors = [...phoneResult.errors, ...checkUser(scope, phoneResult.user, [])]
  return {
    user: errors.length > 0 ? null : phoneResult.user,
    problems: toProblems(errors),
    warnings: [...warnings, ...toProblems(phoneResult.warnings)],
  }
}

const buildTooManyRows = ({ rows_count, rows, number }: StagedOrder): ImportProblem =>
  buildImportProblem(
    rows[0]?.file_line ?? number,
    null,
    'max_length',
    `${rows_count} rows of the file have this customer. A customer has at most ${maxRowsPerOrder} rows.`,
  )

/** Maps staged customers to customers that can be imported. Previews and imports share this, so they agree. */
export const mapStagedCustomers = (
  setting: RunSetting,
  stagedCustomers: readonly StagedOrder[],
  place: { changeable: readonly string[] | null; now: number },
): FileCustomer[] =>
  stagedCustomers.map((stagedOrder) => {
    const base = { stagedOrder, ignoredRowNumbers: [] }
    if (stagedOrder.rows_count > maxRowsPerOrder) {
      const reading = { user: null, problems: [buildTooManyRows(stagedOrder)], warnings: [] }
      return { ...base, rowNumbers: [], lines: [], ...reading }
    }
    const rows = stagedOrder.rows.map(parseStagedRow)
    return {
      ...base,
      rowNumbers: stagedOrder.rows.map(({ row_number }) => row_number),
      lines: rows.map(({ line }) => line),
      ...readCustomer(setting, rows, place),
    }
  })

export const numberCustomers = (customers: readonly FileCustomer[]): UserEntry[] =>
  customers.flatMap(({ user }, index) => (user ? [{ index, path: [], user, warnings: [] }] : []))
