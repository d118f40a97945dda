/** Numbers in one row. Each takes eight bytes, and a row at most two million. */
const partSize = 65_536

/** When as many lists are kept, all go before another is. */
const mostKept = 8

/** The numbers of the recipients of lists, in their order. Those of an engagement are the only ones that stamps change. */
export const keptOrdersSchema = (stampNames: readonly string[]): string => {
  const emptied = (name: string, event: string, condition = 'true') =>
    `create trigger if not exists ${name} after ${event} begin delete from kept_orders where ${condition}; end;`
  return `
create table if not exists kept_orders (
  list text not null,
  first integer not null,
  of_engagement integer not null,
  numbers blob not null,
  primary key (list, first)
) strict, without rowid;
${emptied('recipients_added', 'insert on recipients')}
${emptied('recipients_removed', 'delete on recipients')}
${emptied('recipients_moved', 'update of n, address, state, reason, sent_at on recipients')}
${emptied('recipients_stamped', `update of ${stampNames.join(', ')} on recipients`, 'of_engagement = 1')}
${emptied('packs_added', 'insert on packs')}
${emptied('packs_removed', 'delete on packs')}
${emptied('packs_changed', 'update on packs')}
`
}

interface NumbersQuery {
  /** It answers one column of numbers. */
  query: string
  values: readonly SqlStorageValue[]
  isOfEngagement: boolean
}

/**
 * Orders and filters that no index serves. The first page reads all recipients and stores the numbers of the list, which
 * triggers delete when a recipient changes: until then pages read their own recipients alone, also after the object was out of
 * memory. An index would cost each recipient a row written, and this a row for 65,536 of them.
 */
export class KeptOrders {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  numbersOf(asked: NumbersQuery): Float64Array {
    const name = JSON.stringify([asked.query, asked.values])
    const parts = this.#sql
      .exec<{ numbers: ArrayBuffer }>('select numbers from kept_orders where list = ? order by first', name)
      .toArray()
    return parts.length > 0 ? joined(parts.map(({ numbers }) => new Float64Array(numbers))) : this.#keep(name, asked)
  }

  #keep(name: string, { query, values, isOfEngagement }: NumbersQuery): Float64Array {
    const numbers = Float64Array.from(this.#sql.exec(query, ...values).raw<[number]>(), ([n]) => n)
    this.#sql.exec('delete from kept_orders where (select count(*) from kept_orders where first = 0) >= ?', mostKept)
    // An empty list has an empty part.
    for (let first = 0; first === 0 || first < numbers.length; first += partSize)
      this.#sql.exec(
        'insert into kept_orders (list, first, of_engagement, numbers) values (?, ?, ?, ?)',
        name,
        first,
        Number(isOfEngagement),
        numbers.slice(first, first + partSize).buffer,
      )
    return numbers
  }
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const [first, ...rest] = parts
  if (first && rest.length === 0) return first
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
