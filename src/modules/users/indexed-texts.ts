import { sql } from 'drizzle-orm'
import type { IndexedTexts } from '../../db/lists/missing-texts.ts'

/** Most customers are given no other texts by their editions, which says that without making these texts. */
const isGivenOthers = sql`(search_given <> '' or exists (select 1 from edition_customers as given
  where given.user_seq = users.seq and (given.given_name_folded not in ('', users.name_folded)
    or given.address_folded not in ('', users.address_folded) or given.phone_digits not in ('', users.phone_digits))))`

const givenText = sql`(select text from given_texts where user_id = users.id)`

/** What customers, and orders by these, are found by. */
export const indexedTexts: IndexedTexts = {
  index: 'customer_search',
  table: 'users',
  text: 'search_text',
  marks: ['organization'],
  change: (seqs) => sql`update list_sizes set customer_changes = customer_changes + 1
    where organization_id in (select organization_id from users where seq in (${seqs}))`,
  derived: {
    isStale: sql`iif(${isGivenOthers}, search_given <> ${givenText}, 0)`,
    renew: (seqs) => sql`update users set search_given = ${givenText}
      where seq in (${seqs}) and search_given <> ${givenText} returning id`,
  },
}
