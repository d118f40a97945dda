import { type SQL, sql } from 'drizzle-orm'
import type { Type } from '../../domain/cel/index.ts'
import { failingValue, type Value } from './values.ts'

/** A metadata value. `type` is the name that `json_type` gives, or NULL for a missing key. */
export interface Json {
  type: SQL
  value: SQL
  /** A `from` clause of the elements of an array or the entries of an object. */
  each: SQL
  member: (key: string) => Json
  has: (key: string) => Value
}

export function readJsonPath(document: SQL, path: string, bind: (text: string) => SQL): Json {
  const below = (key: string) => `${path}.${JSON.stringify(key)}`
  return {
    type: sql`json_type(${document}, ${bind(path)})`,
    value: sql`json_extract(${document}, ${bind(path)})`,
    each: sql`json_each(${document}, ${bind(path)})`,
    member: (key) => readJsonPath(document, below(key), bind),
    has: (key) =>
      failingValue(
        sql`case json_type(${document}, ${bind(path)}) when 'object'
          then json_type(${document}, ${bind(below(key))}) is not null end`,
      ),
  }
}

/** Reads a row of `json_each`: an element of an array, or a key of an object. */
export function readJsonElement(alias: SQL, bind: (text: string) => SQL): Json {
  const isElement = sql`typeof(${alias}.key) = 'integer'`
  const document = sql`case when ${isElement} and ${alias}.type in ('array', 'object') then ${alias}.value end`
  return {
    ...readJsonPath(document, '$', bind),
    type: sql`case when ${isElement} then ${alias}.type else 'text' end`,
    value: sql`case when ${isElement} then ${alias}.value else ${alias}.key end`,
  }
}

export const isJsonList = (json: Json): SQL => sql`${json.type} in ('array', 'object')`

/** Converts a metadata value to a type. A value of another type is an error. */
export function convertJson(json: Json, type: Type): Value {
  if (type === 'string') return failingValue(sql`case ${json.type} when 'text' then ${json.value} end`)
  if (type === 'bool') return failingValue(sql`case ${json.type} when 'true' then 1 when 'false' then 0 end`)
  if (type === 'double')
    return failingValue(sql`case when ${json.type} in ('integer', 'real') then cast(${json.value} as real) end`)
  return failingValue(sql`null`)
}

/** Compares a metadata value. Values of different types are not equal, and a missing key is an error. */
export function compareJson(json: Json, value: Value, type: Type): Value {
  if (type === 'null') return failingValue(sql`(${json.type} = 'null')`)
  const branches = [sql`when ${json.type} is null then null`]
  // The value is computed once, as `w`: copies inside copies would exceed the length of a statement.
  const w = value.constant === undefined && (value.fails || value.nullable) ? sql`w` : value.sql
  if (value.ok) branches.push(sql`when not (${value.ok}) then null`)
  else if (value.fails) branches.push(sql`when ${w} is null then null`)
  if (value.nullable) branches.push(sql`when ${w} is null then ${json.type} = 'null'`)
  if (type === 'string') branches.push(sql`when ${json.type} = 'text' then ${json.value} = ${w}`)
  if (type === 'bool') branches.push(sql`when ${json.type} in ('true', 'false') then (${json.type} = 'true') = ${w}`)
  if (type === 'int' || type === 'double')
    branches.push(sql`when ${json.type} in ('integer', 'real') then cast(${json.value} as real) = ${w}`)
  const isEqual = sql`case ${sql.join(branches, sql` `)} else 0 end`
  return failingValue(w === value.sql ? isEqual : sql`(select ${isEqual} from (select ${value.sql} as w))`)
}

export const countJson = (json: Json): Value =>
  failingValue(
    sql`case when ${json.type} = 'text' then length(${json.value})
      when ${isJsonList(json)} then (select count(*) from ${json.each}) end`,
  )
