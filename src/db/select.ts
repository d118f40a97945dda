import { Column, type DriverValueDecoder, type GetColumnData, is, noopDecoder, SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { QueryBuilder, type SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { render } from './render.ts'

/** The fields of a query: columns, or expressions with a type. The keys are the names in its rows. */
export type Fields = Readonly<Record<string, SQLiteColumn | SQL>>

/** The rows of these fields, as the modes of their columns say. */
export type RowOf<F extends Fields> = {
  -readonly [Key in keyof F]: F[Key] extends Column
    ? GetColumnData<F[Key]>
    : F[Key] extends SQL<infer Value>
      ? Value
      : never
}

/** A query that knows its fields, so that its rows are decoded. The builder's queries are of this shape. */
export interface Query<Row> extends SQLWrapper {
  readonly _: { readonly result: Row[]; readonly selectedFields: object }
}

const builder = new QueryBuilder()

/** An expression decodes its values too, which drizzle's types do not show. */
const decoderOf = (field: Column | SQL): DriverValueDecoder<unknown, unknown> =>
  is(field, Column) ? field : (field as unknown as { decoder: DriverValueDecoder<unknown, unknown> }).decoder

/**
 * `select` of drizzle's query builder. D1 answers objects by the names of columns, so each field gets its key as a name:
 * columns of two tables with the same name would be one otherwise.
 */
export function select<F extends Fields>(fields: F) {
  const named = Object.entries(fields).map(([key, field]) => [
    key,
    sql`${field}`.mapWith<DriverValueDecoder<unknown, unknown>>(decoderOf(field)).as(key),
  ])
  // The types stay those of the columns.
  return builder.select(Object.fromEntries(named) as F)
}

/** An expression that answers JSON. Its type is stated by the caller and not checked. */
export const fromJson = <Value>(expression: SQL): SQL<Value> =>
  expression.mapWith((text: string): Value => JSON.parse(text) as Value)

/** The value that a statement in SQL answered for a column, as the column's mode says. */
export const decodeValue = <C extends SQLiteColumn>(column: C, value: string): GetColumnData<C> =>
  column.mapFromDriverValue(value)

/** A column of a table that a `left join` may find no row of. */
export const makeNullable = <C extends SQLiteColumn>(column: C): SQL<GetColumnData<C> | null> =>
  sql`${column}`.mapWith<DriverValueDecoder<GetColumnData<C> | null, unknown>>(decoderOf(column))

/** An expression that answers 1 or 0, as a boolean. */
export const fromFlag = (expression: SQL): SQL<boolean> => expression.mapWith((value: number): boolean => value === 1)

/** The same inside of JSON that a statement makes: SQLite has no booleans, its JSON does. */
export const jsonFlag = (expression: SQL): SQL => sql`json(iif(${expression}, 'true', 'false'))`

const selections = new WeakMap<Fields, SQL>()

/** The fields for a query in `sql`: what stands behind `select`. Fields that are kept are rendered once. */
export function buildSelectList(fields: Fields): SQL {
  const known = selections.get(fields)
  if (known) return known
  const made = sql.join(
    Object.entries(fields).map(([key, field]) => sql`${field} as ${sql.identifier(key)}`),
    sql`, `,
  )
  const { text, values } = render(made)
  const kept = values.length === 0 ? sql.raw(text) : made
  selections.set(fields, kept)
  return kept
}

/** A query in `sql` that answers these fields by their names, and maybe more. */
export const decodeAs = <Row>(fields: Fields, statement: SQL<Row>): Query<Row> => {
  const shape: unknown = { selectedFields: fields }
  return { _: shape as Query<Row>['_'], getSQL: () => statement }
}

/** A query of one row of expressions, without a table. */
export const selectValues = <F extends Fields>(fields: F): Query<RowOf<F>> =>
  decodeAs(fields, sql<RowOf<F>>`select ${buildSelectList(fields)}`)

type Decoder = readonly [key: string, decode: (value: unknown) => unknown]

/** Texts and numbers are as D1 gives them. */
const isPlain = (decoder: DriverValueDecoder<unknown, unknown>): boolean =>
  decoder === noopDecoder ||
  (decoder instanceof Column && decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue)

const knownDecoders = new WeakMap<object, readonly Decoder[]>()

function decodersOf(fields: object): readonly Decoder[] {
  const known = knownDecoders.get(fields)
  if (known) return known
  const made = Object.entries(fields).flatMap(([key, field]: [string, Column | SQL | SQL.Aliased]): Decoder[] => {
    const decoder = decoderOf(is(field, SQL.Aliased) ? field.sql : field)
    return isPlain(decoder) ? [] : [[key, (value) => decoder.mapFromDriverValue(value)]]
  })
  knownDecoders.set(fields, made)
  return made
}

const isQuery = (statement: SQLWrapper): statement is Query<unknown> => '_' in statement

/** Rows of D1 as the fields of their statement say; as they are where it does not know any. */
export function decodeRows<Row>(statement: SQLWrapper, rows: Row[]): Row[] {
  if (!isQuery(statement) || rows.length === 0) return rows
  const decoders = decodersOf(statement._.selectedFields)
  if (decoders.length === 0) return rows
  return rows.map((row) => {
    const values = { ...(row as Record<string, unknown>) }
    for (const [key, decode] of decoders) values[key] = values[key] === null ? null : decode(values[key])
    return values as Row
  })
}

/** The same columns, each of which may be null: those of a row that a left join may not find. */
export type Nullable<Row> = { [Key in keyof Row]: Row[Key] | null }
