import { sql } from 'drizzle-orm'
import { areSpans, longBits, written } from '../../../db/edition-counts.ts'
import { sharedCustomers } from '../../../db/schema/users.ts'
import { shortId, shortIdOf } from '../../../db/short-ids.ts'
import type { OrderSpan, Repair } from './spans.ts'

/** Counts the customers of an edition and those of its organisation. */
export function recountCustomers({ edition_id, span }: OrderSpan): Repair[] {
  const known = sql`(select coalesce(sum(customers), 0) from order_counts where ${areSpans(longBits, sql`${edition_id}`)})`
  const joined = sql`(select count(*) from edition_customers where edition_short_id = ${shortId(edition_id)})`
  const people = sql`(select count(*) from users where users.organization_short_id = ${shortIdOf(sql`list_sizes.organization_id`)})`
  return [
    // Its other spans keep what they have: any of them counts customers.
    sql`insert into order_counts (span_bits, edition_id, span, customers, changes)
      select ${written(longBits)}, ${edition_id}, ${span}, joined - known, 1 from (select ${joined} as joined, ${known} as known)
      where joined <> known
      on conflict (span_bits, edition_id, span) do update
        set customers = customers + excluded.customers, changes = changes + 1
      returning span_bits, span`,
    sql`update list_sizes set customers = ${people}
      where organization_id = (select organization_id from editions where id = ${edition_id})
        and customers <> ${people} returning 0 as span_bits, 0 as span`,
  ]
}

/**
 * Counts the customers who are in this edition and in one behind it by its short id. Sets that begin with this edition and have no
 * customers are set to 0, and a trigger deletes them. Those that begin with no edition of the organisation are seen as sets of the
 * edition before.
 */
export function recountShared(editionId: string): Repair {
  const edition = sql`${shortId(editionId)}`
  const ofCustomer = sql`from edition_customers as other where other.user_seq = one.user_seq`
  const editions = sql`(select group_concat(',' || edition_short_id, '') from (select other.edition_short_id ${ofCustomer}
    order by other.edition_short_id limit -1))`
  const isBeside = sql`organization_id = edition.organization_id and +short_id`
  const next = sql`(select min(short_id) from editions where ${isBeside} > ${edition})`
  const isOfEdition = sql`organization_short_id = ${shortIdOf(sql`edition.organization_id`)}
    and editions >= iif(exists (select 1 from editions where ${isBeside} < ${edition}), ',' || ${edition}, '')
    and editions < coalesce(',' || ${next}, '-')`
  return sql`insert into ${sharedCustomers} (organization_short_id, editions, customers)
    select ${shortIdOf(sql`edition.organization_id`)}, counted.editions, sum(counted.customers)
    from editions as edition cross join (
        select ${editions} as editions, 1 as customers from edition_customers as one
          where one.edition_short_id = ${edition} and exists (select 1 ${ofCustomer} and other.edition_short_id > ${edition})
        union all
        select editions, 0 from editions as edition cross join ${sharedCustomers} on ${isOfEdition}
          where edition.id = ${editionId}) as counted
    where edition.id = ${editionId}
    group by counted.editions
    on conflict (organization_short_id, editions) do update set customers = excluded.customers
      where customers <> excluded.customers
    returning 0 as span_bits, 0 as span`
}

/** Names the only edition of the customers of an edition anew. */
export function renameOnly(editionId: string): Repair {
  const edition = sql`${shortId(editionId)}`
  const only = sql`iif(exists (select 1 from edition_customers as other
    where other.user_seq = users.seq and other.edition_short_id <> ${edition}), null, ${edition})`
  return sql`update users set only_edition_short_id = ${only}
    where seq in (select user_seq from edition_customers where edition_short_id = ${edition})
      and only_edition_short_id is not ${only}
    returning 0 as span_bits, 0 as span`
}
