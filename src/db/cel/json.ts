import { type SQL, sql } from 'drizzle-orm'
import type { Type } from '../../domain/cel/index.ts'
import { failing, type Value } from './values.ts'

/** A value of metadata: its type as SQLite names it, NULL when it is absent. */
export interface Json {
  type: SQL
  value: SQL
  /** The elements of an array, or the entries of an object. */
  each: SQL
  member: (key: string) => Json
  has: (key: string) => Value
}

/** `path` leads there from the root of `document`. */
export function jsonAt(document: SQL, path: string, bind: (text: string) => SQL): Json {
  const below = (key: string) => `${path}.${JSON.stringify(key)}`
  return {
    type: sql`json_type(${document}, ${bind(path)})`,
    value: sql`json_extract(${document}, ${bind(path)})`,
    each: sql`json_each(${document}, ${bind(path)})`,
    member: (key) => jsonAt(document, below(key), bind),
    has: (key) =>
      failing(
        sql`case json_type(${document}, ${bind(path)}) when 'object' then json_type(${document}, ${bind(below(key))}) is not null end`,
      ),
  }
}

/** A row of `json_each`: an element of an array, or a key of an object. */
export function jsonElement(alias: SQL, bind: (text: string) => SQL): Json {
  const isElement = sql`typeof(${alias}.key) = 'integer'`
  const document = sql`case when ${isElement} and ${alias}.type in ('array', 'object') then ${alias}.value end`
  return {
    ...jsonAt(document, '$', bind),
    type: sql`case when ${isElement} then ${alias}.type else 'text' end`,
    value: sql`case when ${isElement} then ${alias}.value else ${alias}.key end`,
  }
}

export const isListOf = (json: Json): SQL => sql`${json.type} in ('array', 'object')`

/** The value if it has this type, otherwise an error. */
export function jsonAs(json: Json, type: Type): Value {
  if (type === 'string') return failing(sql`case ${json.type} when 'text' then ${json.value} end`)
  if (type === 'bool') return failing(sql`case ${json.type} when 'true' then 1 when 'false' then 0 end`)
  if (type === 'double')
    return failing(sql`case when ${json.type} in ('integer', 'real') then cast(${json.value} as real) end`)
  return failing(sql`null`)
}

/** Values of different types are not equal; a value that is absent is an error. */
export function jsonEquals(json: Json, value: Value, type: Type): Value {
  if (type === 'null') return failing(sql`(${json.type} = 'null')`)
  const branches = [sql`when ${json.type} is null then null`]
  // The value is computed once, as `w`: nested copies of it would exceed the limit of a statement.
  const w = value.constant === undefined && (value.fails || value.nullable) ? sql`w` : value.sql
  if (value.ok) branches.push(sql`when not (${value.ok}) then null`)
  else if (value.fails) branches.push(sql`when ${w} is null then null`)
  if (value.nullable) branches.push(sql`when ${w} is null then ${json.type} = 'null'`)
  if (type === 'string') branches.push(sql`when ${json.type} = 'text' then ${json.value} = ${w}`)
  if (type === 'bool') branches.push(sql`when ${json.type} in ('true', 'false') then (${json.type} = 'true') = ${w}`)
  if (type === 'int' || type === 'double')
    branches.push(sql`when ${json.type} in ('integer', 'real') then cast(${json.value} as real) = ${w}`)
  const same = sql`case ${sql.join(branches, sql` `)} else 0 end`
  return failing(w === value.sql ? same : sql`(select ${same} from (select ${value.sql} as w))`)
}

export const sizeOfJson = (json: Json): Value =>
  failing(
    sql`case when ${json.type} = 'text' then length(${json.value}) when ${isListOf(json)} then (select count(*) from ${json.each}) end`,
  )
