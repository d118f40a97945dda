import { sql } from 'drizzle-orm'
import type { Ctx, JobCtx } from '../../../context.ts'
import { buildConditions } from '../../../db/filters.ts'
import { joinConditions } from '../../../db/paginate.ts'
import { webhookEvents } from '../../../db/schema/webhooks.ts'
import { selectValues } from '../../../db/select.ts'
import { isVisibleIn } from '../../../db/visibility.ts'
import { actAs, admins, type Caller, mayAt, type Tenant } from '../../../domain/accounts/access.ts'
import { AppError, doesNotExist } from '../../../domain/errors.ts'
import { checkTenant } from '../../editions/index.ts'
import { chooseOrganization } from '../queries.ts'
import type { StreamRequest } from './feed-contract.ts'
import {
  eventsExpired,
  eventsInOrder,
  eventVisibility,
  formatCursor,
  parseCursor,
  selectExpiredSeq,
  selectLastSeq,
} from './feed.ts'
import { eventFilters } from './list.ts'
import { claimStream, endClaim, renewAfterMs, renewClaim, type StreamClaim } from './stream-claims.ts'

const maxStreamMs = 900_000
const eventsPerPoll = 100

interface StreamScope {
  organizationId: string
  tenant: Tenant
}

/** The organization and the edition of a stream. Throws for those that the caller may not see. */
export async function findStreamScope(ctx: Ctx, query: StreamRequest): Promise<StreamScope> {
  const { edition_id } = query
  const organizationId = chooseOrganization(actAs(ctx.caller, admins), query.organization_id)
  const everywhere: Tenant = { organization_id: organizationId, editions: 'any' }
  const tenant: Tenant = edition_id === undefined ? everywhere : { ...everywhere, editions: [edition_id] }
  if (!mayAt(ctx.caller, admins, everywhere)) throw doesNotExist('organization_id')
  if (!mayAt(ctx.caller, admins, tenant)) throw doesNotExist('edition_id')
  await checkTenant(ctx, organizationId, edition_id ?? null)
  return { organizationId, tenant }
}

/** Where a stream begins: after the cursor of the client, at a time, or at the next event. */
async function findStart(
  ctx: Ctx,
  organizationId: string,
  { after, created_after, lastEventId }: StreamRequest & { lastEventId: string | null },
): Promise<number> {
  const id = sql`${organizationId}`
  const row = await ctx.db.first(selectValues({ lastSeq: selectLastSeq(id), expiredSeq: selectExpiredSeq(id) }))
  const { lastSeq = 0, expiredSeq = 0 } = row ?? {}
  const parameter = lastEventId === null ? 'after' : 'Last-Event-ID'
  const cursor = lastEventId ?? after
  if (cursor === undefined) return created_after === undefined ? lastSeq : expiredSeq
  const position = parseCursor(organizationId, cursor, parameter)
  if (position < expiredSeq) throw eventsExpired()
  return position
}

/** Reads the events of an organization as they are stored. It ends with the token, and with the roles of its account. */
class EventReader {
  readonly #ctx: Ctx
  readonly #job: JobCtx
  readonly #query: StreamRequest
  readonly #scope: StreamScope
  readonly #claim: StreamClaim
  #caller: Caller
  #position: number
  /** The `seq` of the last id that the client has. */
  #sentSeq: number | null = null
  #renewedAt: number

  constructor(
    ctx: Ctx,
    job: JobCtx,
    stream: { query: StreamRequest; scope: StreamScope; claim: StreamClaim; start: number },
  ) {
    this.#ctx = ctx
    this.#job = job
    this.#query = stream.query
    this.#scope = stream.scope
    this.#claim = stream.claim
    this.#caller = ctx.caller
    this.#position = stream.start
    this.#renewedAt = job.now()
  }

  async poll() {
    const last = await this.#readLastSeq()
    const isDue = this.#job.now() - this.#renewedAt >= renewAfterMs
    const hasEvents = last > this.#position
    const end = { events: [], isLast: true }
    if ((isDue || hasEvents) && !(await this.#isStillAllowed())) return end
    if (isDue && !(await this.#renew())) return end
    const rows = hasEvents ? await this.#readEvents(last) : []
    // The client connects again, and learns that events are gone.
    if (rows === null) return end
    const hasMore = rows.length === eventsPerPoll
    this.#position = hasMore ? (rows.at(-1)?.seq ?? 0) : Math.max(last, this.#position)
    const events = rows.map(({ seq, payload }) => ({ id: this.#formatId(seq), data: payload }))
    const sentSeq = rows.at(-1)?.seq ?? this.#sentSeq
    this.#sentSeq = this.#position
    return {
      events: sentSeq === this.#position ? events : [...events, { id: this.#formatId(this.#position) }],
      hasMore,
    }
  }

  close(): Promise<void> {
    return endClaim(this.#job, this.#claim)
  }

  #formatId(seq: number): string {
    return formatCursor(this.#scope.organizationId, seq)
  }

  /** Looks up the token again before anything is sent, so that nothing is sent after its end. */
  async #isStillAllowed(): Promise<boolean> {
    try {
      this.#caller = actAs(await this.#ctx.authenticateAgain(), admins)
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_authenticated') return false
      throw error
    }
    return this.#caller.scopes.includes('read') && mayAt(this.#caller, admins, this.#scope.tenant)
  }

  #renew(): Promise<boolean> {
    this.#renewedAt = this.#job.now()
    return renewClaim(this.#job, this.#claim)
  }

  async #readLastSeq(): Promise<number> {
    const row = await this.#ctx.db.first(selectValues({ seq: selectLastSeq(sql`${this.#scope.organizationId}`) }))
    return row?.seq ?? 0
  }

  /** The next events up to `last`, or null if some of them were deleted. */
  async #readEvents(last: number): Promise<{ seq: number; payload: string }[] | null> {
    const { organizationId } = this.#scope
    const isNext = joinConditions([
      sql`${webhookEvents.organization_id} = ${organizationId}`,
      sql`${webhookEvents.seq} > ${this.#position} and ${webhookEvents.seq} <= ${last}`,
      isVisibleIn(this.#caller, eventVisibility, { ...this.#query, organization_id: organizationId }),
      ...buildConditions(eventFilters, this.#query),
    ])
    const [rows, [expiry]] = await this.#ctx.db.batch([
      sql<{ seq: number; payload: string }>`select page.seq, payload from (select id, seq from ${eventsInOrder}
          where ${isNext} order by seq limit ${eventsPerPoll}) as page
        cross join webhook_events on webhook_events.id = page.id order by page.seq`,
      selectValues({ seq: selectExpiredSeq(sql`${organizationId}`) }),
    ])
    return this.#position < (expiry?.seq ?? 0) ? null : rows
  }
}

export const streamWebhookEvents = (
  ctx: Ctx,
  { query, resource: scope, lastEventId }: { query: StreamRequest; resource: StreamScope; lastEventId: string | null },
) => ({
  maxMs: maxStreamMs,
  open: async () => {
    const { organizationId } = scope
    const start = await findStart(ctx, organizationId, { ...query, lastEventId })
    // The clock of a request stands still, and its reads may come from a replica.
    const job = ctx.openJobAfterResponse?.(ctx.db.meter) ?? ctx
    const { caller } = ctx
    const claim = await claimStream(job, caller.credential.id ?? caller.id, organizationId)
    const reader = new EventReader(ctx, job, { query, scope, claim, start })
    return { poll: () => reader.poll(), close: () => reader.close() }
  },
})
