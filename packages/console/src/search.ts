/** Reads a search parameter of an address. Anything that it does not accept is as if it were absent. */
type Read<Value> = (value: unknown) => Value | undefined

export const text: Read<string> = (value) =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined

export const flag: Read<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)

export const choice =
  <const Choice extends string>(choices: readonly Choice[]): Read<Choice> =>
  (value) =>
    choices.find((one) => one === value)

const positive: Read<number> = (value) => (Number(value) > 1 ? Math.trunc(Number(value)) : undefined)

type Search<Readers> = { [Key in keyof Readers]?: Readers[Key] extends Read<infer Value> ? Value : never }

/** Reads the search parameters of a page that is no list. */
export const readSearch =
  <Readers extends Record<string, Read<unknown>>>(readers: Readers) =>
  (search: Record<string, unknown>): Search<Readers> =>
    // The router would keep a parameter that is missing here as the address has it.
    Object.fromEntries(Object.entries(readers).map(([key, read]) => [key, read(search[key])])) as Search<Readers>

/** Reads the filters of a list, its order and its place: `page` and `cursor` are those of `next`. */
export const readListSearch = <Readers extends Record<string, Read<unknown>>>(readers: Readers) =>
  readSearch({ ...readers, page: positive, cursor: text })

/** The filters that count as choices of the person, without order and place. */
export const countFilters = (search: Record<string, unknown>): number =>
  Object.keys(search).filter((key) => search[key] !== undefined && !['page', 'cursor', 'ordering'].includes(key)).length
