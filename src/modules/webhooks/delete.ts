import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne, commit } from '../../db/commit.ts'
import type { EndpointRow } from './queries.ts'

/** Its deliveries and their attempts go with it by their foreign keys, which D1 enforces; the events stay. */
export const deleteEndpoint = (ctx: Ctx, endpoint: EndpointRow): Promise<null> =>
  commit(ctx, null, [
    sql`delete from webhook_endpoints where id = ${endpoint.id} and version = ${endpoint.version}`,
    changedOne(),
  ])
