import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { settledUntil } from '../../db/lists/settled-until.ts'
import { fewRows, settleScopes } from '../../db/lists/spans/settle-spans.ts'
import { untilOf } from '../../db/lists/spans/spanned-list.ts'
import { entrySpans, resourceScope, resourceSpans } from './spans.ts'

const entriesALook = 5000
const looksASweep = 20

type SettleCtx = Pick<JobCtx, 'db' | 'now'>

interface Look {
  from: string | number
  until: string
}

/** The next entries of an organisation that are counted, and whose resources were not looked at. */
const nextLook = ({ db }: SettleCtx, organization: string) =>
  db.first(sql<Look>`select start as "from", coalesce((select id from audit_log where organization_id = ${organization}
      and id >= start and id < until order by id limit 1 offset ${entriesALook}), until) as until
    from (select ${untilOf(resourceSpans, sql`${organization}`)} as start, ${untilOf(entrySpans, sql`${organization}`)} as until)
    where start < until`)

/** Counts the entries of resources that these entries are of, and that have many which are not counted. */
async function lookAt({ db, now }: SettleCtx, organization: string, { from, until }: Look): Promise<boolean> {
  const scope = resourceScope(sql`${organization}`, sql`changed.resource_id`)
  const many = await db.all(sql<{ scope: string }>`select ${scope} as scope
    from (select distinct resource_id from audit_log where organization_id = ${organization} and id >= ${from}
      and id < ${until} and resource_id is not null) as changed
    where (select 1 from audit_log as entry indexed by audit_log_of_resource
      where entry.organization_id = ${organization} and entry.resource_id = changed.resource_id
        and entry.id >= ${untilOf(resourceSpans, scope)} limit 1 offset ${fewRows}) is not null`)
  const left = await settleScopes(
    db,
    resourceSpans,
    many.map((one) => one.scope),
    now(),
  )
  if (left.length > 0) return false
  await db.batch([settledUntil(resourceSpans.name, organization, until)])
  return true
}

/** Counts entries of resources that have many, of these organisations. */
export async function settleResources(job: SettleCtx, organizations: readonly string[]): Promise<void> {
  let looks = 0
  for (const organization of organizations)
    for (let look = await nextLook(job, organization); look; look = await nextLook(job, organization))
      if (++looks > looksASweep || !(await lookAt(job, organization, look))) return
}
