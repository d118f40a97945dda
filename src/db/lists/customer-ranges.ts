import { type SQL, sql } from 'drizzle-orm'
import type { Ranges } from './ranges.ts'

const flags = [0, 1]

/**
 * `users_order_created` has the customers of an organisation in the order in which they joined: those with and without a
 * telephone number, and of each those who were seen and who were not. So it has an order for those without one of these too.
 */
export function customerRanges(user: SQL) {
  const [withoutNumber, unseen] = [sql`(${user}.phone_number is null)`, sql`(${user}.last_seen_at is null)`]
  return {
    all: {
      columns: [withoutNumber, unseen],
      values: flags.flatMap((first) => flags.map((second) => [first, second])),
    } satisfies Ranges,
    withoutNumber: {
      where: sql`${withoutNumber} = 1`,
      ranges: { columns: [unseen], values: flags.map((flag) => [flag]) },
    },
    unseen: { where: sql`${unseen} = 1`, ranges: { columns: [withoutNumber], values: flags.map((flag) => [flag]) } },
  }
}
