import { customType, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** A value of any type, as it was given. */
export const any = customType<{ data: number | string }>({ dataType: () => 'any' })

/** The rows of a list and a scope that were made in a span of time, by the values that the list is filtered by. */
export const listSpans = sqliteTable(
  'list_spans',
  {
    list: text().notNull(),
    scope: text().notNull(),
    span: integer().notNull(),
    counts: text({ mode: 'json' }).$type<Readonly<Record<string, number>>>().notNull(),
    total: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.list, table.scope, table.span] })],
)

/** Shorter spans of spans that have many rows: `bits` is the length of their numbers. */
export const listSpanParts = sqliteTable(
  'list_span_parts',
  {
    list: text().notNull(),
    scope: text().notNull(),
    bits: integer().notNull(),
    span: integer().notNull(),
    counts: text({ mode: 'json' }).$type<Readonly<Record<string, number>>>().notNull(),
    total: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.list, table.scope, table.bits, table.span] })],
)

/** Where the rows of a list and a scope begin that are not counted in spans yet: a moment, or an id. */
export const settledLists = sqliteTable(
  'settled_lists',
  {
    list: text().notNull(),
    scope: text().notNull(),
    until: any().notNull(),
  },
  (table) => [primaryKey({ columns: [table.list, table.scope] })],
)
