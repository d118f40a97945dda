import type { Shape, TableShape } from './read-shape.ts'

/** A change by a migration with which the version before it cannot work. */
export interface Fault {
  /** The table, the column as `table.column`, the index, the trigger or the view. */
  name: string
  message: string
  /** True if it is nothing but a removal, which is harmless once a released version no longer uses the name. */
  isRemoval: boolean
}

const removal = (kind: string, name: string): Fault => ({
  name,
  message: `The ${kind} ${name} is gone, and the released version uses it.`,
  isRemoval: true,
})

const change = (name: string, message: string): Fault => ({ name, message, isRemoval: false })

/** True if every value that one list of words allows is allowed by the other, as in `status in ('a', 'b')`. */
function isWidened(before: string, after: string): boolean {
  const list = /^(\w+) in \(([^()]*)\)$/i
  const [, column, words] = list.exec(before) ?? []
  const [, newColumn, newWords] = list.exec(after) ?? []
  if (words === undefined || newWords === undefined || column !== newColumn) return false
  const split = (text: string) => new Set(text.split(',').map((word) => word.trim()))
  return split(words).isSubsetOf(split(newWords))
}

function compareColumns(table: string, before: TableShape, after: TableShape): Fault[] {
  const faults = [...before.columns].flatMap(([column, old]): Fault[] => {
    const name = `${table}.${column}`
    const now = after.columns.get(column)
    if (now === undefined) return [removal('column', name)]
    if (now.type !== old.type) return [change(name, `The column ${name} was ${old.type} and is ${now.type}.`)]
    if (now.hidden !== old.hidden) return [change(name, `The column ${name} can no longer be written as before.`)]
    if (now.notnull && !old.notnull)
      return [change(name, `The column ${name} refuses null, which the released version writes.`)]
    if (now.notnull && old.dflt_value !== null && now.dflt_value === null)
      return [change(name, `The column ${name} has lost its default, and the released version leaves it out.`)]
    return []
  })
  const required = [...after.columns.values()].filter(
    (column) => !before.columns.has(column.name) && column.notnull && column.dflt_value === null && column.hidden === 0,
  )
  return [
    ...faults,
    ...required.map(({ name }) =>
      change(
        `${table}.${name}`,
        `The column ${table}.${name} needs a value, which the released version does not write. Allow null, or declare a default.`,
      ),
    ),
  ]
}

function compareConstraints(table: string, before: TableShape, after: TableShape): Fault[] {
  const isOld = (column: string) => before.columns.has(column)
  /** A new column that is null when the released version writes a row. */
  const isNull = (column: string) => !isOld(column) && after.columns.get(column)?.dflt_value === null
  const checks = after.checks.filter(
    (check) =>
      !before.checks.some((old) => old === check || isWidened(old, check)) &&
      (check.match(/\w+/g) ?? []).some((word) => isOld(word)),
  )
  const foreignKeys = after.foreignKeys.filter(
    ({ columns, text }) => columns.every(isOld) && !before.foreignKeys.some((old) => old.text === text),
  )
  const newUniques = after.uniques.filter(
    ({ text, columns }) => !before.uniques.some((old) => old.text === text) && !columns?.some(isNull),
  )
  const lostUniques = before.uniques.filter(({ text }) => !after.uniques.some((now) => now.text === text))
  return [
    ...checks.map((check) =>
      change(
        table,
        `The table ${table} has a new check (${check}), which may refuse what the released version writes.`,
      ),
    ),
    ...foreignKeys.map(({ text }) =>
      change(
        table,
        `The table ${table} has a new foreign key (${text}), which may refuse what the released version writes.`,
      ),
    ),
    ...newUniques.map(({ text }) =>
      change(
        table,
        `The table ${table} has a new unique key (${text}), which may refuse what the released version writes.`,
      ),
    ),
    ...lostUniques.map(({ text }) =>
      change(
        table,
        `The table ${table} has lost its unique key (${text}), which "on conflict" of the released version may need.`,
      ),
    ),
  ]
}

function compareTables(before: Shape, after: Shape): Fault[] {
  return [...before.tables].flatMap(([name, old]) => {
    const now = after.tables.get(name)
    if (now === undefined) return [removal('table', name)]
    const storage =
      now.storage === old.storage ? [] : [change(name, `The table ${name} was ${old.storage} and is ${now.storage}.`)]
    return [...storage, ...compareColumns(name, old, now), ...compareConstraints(name, old, now)]
  })
}

/** True if a trigger can refuse a write. */
const isRefusing = (sql: string): boolean => /\braise\s*\(/i.test(sql)

function compareTriggers(before: Shape, after: Shape): Fault[] {
  const lost = [...before.triggers.keys()].filter((name) => !after.triggers.has(name))
  const refusing = [...after.triggers].filter(
    ([name, sql]) => isRefusing(sql) && before.triggers.get(name) !== sql && isOnTable(before, sql),
  )
  return [
    ...lost.map((name) => removal('trigger', name)),
    ...refusing.map(([name]) =>
      change(name, `The trigger ${name} is new or changed, and may refuse what the released version writes.`),
    ),
  ]
}

/** True if a trigger is on a table that the shape has. */
function isOnTable({ tables, views }: Shape, sql: string): boolean {
  const [, name = ''] = /\bon (\w+)/i.exec(sql) ?? []
  return tables.has(name) || views.has(name)
}

/**
 * Finds what keeps the released version from running on the new schema, as it does between the migrations and the
 * deployment of a new version.
 */
export function findFaults(before: Shape, after: Shape): Fault[] {
  const indexes = [...before.indexes].flatMap(([name, sql]): Fault[] => {
    const now = after.indexes.get(name)
    if (now === undefined) return [removal('index', name)]
    if (now === sql) return []
    return [change(name, `The index ${name} has changed, and "indexed by" of the released version names it.`)]
  })
  const views = [...before.views].flatMap(([name, columns]): Fault[] => {
    const now = after.views.get(name)
    if (now === undefined) return [removal('view', name)]
    return columns
      .filter((column) => !now.includes(column))
      .map((column) => change(name, `The view ${name} has lost its column ${column}.`))
  })
  return [...compareTables(before, after), ...indexes, ...compareTriggers(before, after), ...views]
}

/**
 * Finds the names that migrations remove because a release does not use them any more. A line of a migration says so:
 * `-- Unused since 0.2.0: orders.note`.
 */
export function listUnusedNames(migrations: readonly { text: string }[], versions: ReadonlySet<string>): Set<string> {
  const lines = migrations.flatMap(({ text }) => [...text.matchAll(/^-- Unused since (\S+): (.*)$/gm)])
  return new Set(
    lines.flatMap(([, version = '', names = '']) =>
      versions.has(version) ? names.split(',').map((name) => name.trim()) : [],
    ),
  )
}
