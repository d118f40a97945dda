import {
  Column,
  type DriverValueDecoder,
  type GetColumnData,
  is,
  noopDecoder,
  SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { QueryBuilder, type SQLiteColumn } from 'drizzle-orm/sqlite-core'

/** The fields of a query: columns, or typed expressions. The keys are the names in its rows. */
export type Fields = Readonly<Record<string, SQLiteColumn | SQL>>

/** A decoded row of these fields. */
export type RowOf<F extends Fields> = {
  -readonly [Key in keyof F]: F[Key] extends Column
    ? GetColumnData<F[Key]>
    : F[Key] extends SQL<infer Value>
      ? Value
      : never
}

/** A query that names its fields, so that its rows can be decoded. Queries of drizzle's builder have this shape. */
export interface Query<Row> extends SQLWrapper {
  readonly _: { readonly result: Row[]; readonly selectedFields: object }
}

const builder = new QueryBuilder()

/** An SQL expression has a decoder too, but drizzle's types hide it. */
const getDecoder = (field: Column | SQL): DriverValueDecoder<unknown, unknown> =>
  is(field, Column) ? field : (field as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder

/**
 * `select` of drizzle's query builder. D1 returns rows as objects by column name, so each field is selected under its
 * key: two columns of the same name would overwrite each other.
 */
export function select<F extends Fields>(fields: F) {
  const aliasedFields = Object.entries(fields).map(([key, field]) => [
    key,
    sql`${field}`.mapWith<DriverValueDecoder<unknown, unknown>>(getDecoder(field)).as(key),
  ])
  return builder.select(Object.fromEntries(aliasedFields) as F)
}

/** An expression whose JSON is parsed. The type is the caller's claim, and nothing checks it. */
export const fromJson = <Value>(expression: SQL): SQL<Value> =>
  expression.mapWith((text: string): Value => JSON.parse(text) as Value)

/** Decodes a value of raw SQL as the column would. */
export const decodeValue = <C extends SQLiteColumn>(column: C, value: string): GetColumnData<C> =>
  column.mapFromDriverValue(value)

/** A column of a `left join`, which is null when the join finds no row. */
export const makeNullable = <C extends SQLiteColumn>(column: C): SQL<GetColumnData<C> | null> =>
  sql`${column}`.mapWith<DriverValueDecoder<GetColumnData<C> | null, unknown>>(getDecoder(column))

/** An expression of 1 or 0 whose value is decoded to a boolean. */
export const fromFlag = (expression: SQL): SQL<boolean> => expression.mapWith((value: number): boolean => value === 1)

/** A boolean inside JSON that SQL builds: SQLite has no booleans, but its JSON has. */
export const jsonFlag = (expression: SQL): SQL => sql`json(iif(${expression}, 'true', 'false'))`

/** The select list of a query in `sql`: each field under its key. */
export const buildSelectList = (fields: Fields): SQL =>
  sql.join(
    Object.entries(fields).map(([key, field]) => sql`${field} as ${sql.identifier(key)}`),
    sql`, `,
  )

/** A query in `sql` whose rows are decoded as these fields. Other columns stay as D1 gives them. */
export const decodeAs = <Row>(fields: Fields, statement: SQL<Row>): Query<Row> => {
  const shape: unknown = { selectedFields: fields }
  return { _: shape as Query<Row>['_'], getSQL: () => statement }
}

/** A query without a table: one row of expressions. */
export const selectValues = <F extends Fields>(fields: F): Query<RowOf<F>> =>
  decodeAs(fields, sql<RowOf<F>>`select ${buildSelectList(fields)}`)

type Decoder = readonly [key: string, decode: (value: unknown) => unknown]

/** True for columns whose values D1 already gives in the right type. */
const isPlain = (decoder: DriverValueDecoder<unknown, unknown>): boolean =>
  decoder === noopDecoder ||
  (decoder instanceof Column && decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue)

const listDecoders = (fields: object): Decoder[] =>
  Object.entries(fields).flatMap(([key, field]: [string, Column | SQL | SQL.Aliased]): Decoder[] => {
    const decoder = getDecoder(is(field, SQL.Aliased) ? field.sql : field)
    return isPlain(decoder) ? [] : [[key, (value) => decoder.mapFromDriverValue(value)]]
  })

const isQuery = (statement: SQLWrapper): statement is Query<unknown> => '_' in statement

/** Decodes rows of D1 by the fields of their statement. Rows of a statement without fields stay as they are. */
export function decodeRows<Row>(statement: SQLWrapper, rows: Row[]): Row[] {
  if (!isQuery(statement) || rows.length === 0) return rows
  const decoders = listDecoders(statement._.selectedFields)
  if (decoders.length === 0) return rows
  return rows.map((row) => {
    const values = { ...(row as Record<string, unknown>) }
    for (const [key, decode] of decoders) values[key] = values[key] === null ? null : decode(values[key])
    return values as Row
  })
}

/** A row of a left join: every column is null when the join finds no row. */
export type Nullable<Row> = { [Key in keyof Row]: Row[Key] | null }
