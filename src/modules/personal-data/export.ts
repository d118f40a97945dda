import { and, eq, gt, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { campaigns } from '../../db/schema/messaging/campaigns.ts'
import { select } from '../../db/select.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { LoadedUser } from '../users/index.ts'
import { type Section, sectionsOf } from './export-sections.ts'

const rowsAPage = 500
const campaignsAPage = 20

type ExportedRow = Record<string, unknown>
type KeyedRow = ExportedRow & { row_key: string }

const pageAfter = ({ columns, from, where, key }: Section, after: string) =>
  sql<KeyedRow>`select ${key} as row_key, ${columns} from ${from} where ${where} and ${key} > ${after}
    order by ${key} limit ${rowsAPage}`

/** A row of the document. Columns of stored JSON become JSON. */
const shown = ({ row_key: _, ...row }: KeyedRow): ExportedRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) =>
      name.endsWith('_json')
        ? [name.slice(0, -'_json'.length), typeof value === 'string' ? (JSON.parse(value) as unknown) : null]
        : [name, value],
    ),
  )

async function* rowsOf(ctx: Ctx, section: Section): AsyncGenerator<ExportedRow> {
  let after = ''
  for (;;) {
    const rows = await ctx.db.all(pageAfter(section, after))
    for (const row of rows) yield shown(row)
    const last = rows.at(-1)
    if (!last || rows.length < rowsAPage) return
    after = last.row_key
  }
}

/** The customer in the objects of campaigns, which find recipients by the number of the customer's row. */
async function* recipients(ctx: Ctx, user: LoadedUser): AsyncGenerator<ExportedRow> {
  let after = 0
  for (;;) {
    const started = await ctx.db.all(
      select({ seq: campaigns.seq, id: campaigns.id })
        .from(campaigns)
        .where(and(eq(campaigns.organization_id, user.organization_id), gt(campaigns.run, 0), gt(campaigns.seq, after)))
        .orderBy(campaigns.seq)
        .limit(campaignsAPage),
    )
    const found = await Promise.all(
      started.map(async ({ id }) => ({ campaign_id: id, row: await ctx.senders.of(id).findRecipient(user.seq) })),
    )
    for (const { campaign_id, row } of found) {
      if (!row) continue
      const { n: _, person, ...stored } = row
      yield { campaign_id, ...stored, person: JSON.parse(person) as unknown }
    }
    const last = started.at(-1)
    if (!last) return
    after = last.seq
  }
}

async function* arrayOf(rows: AsyncIterable<ExportedRow>): AsyncGenerator<string> {
  let separator = '['
  let text = ''
  for await (const row of rows) {
    text += separator + JSON.stringify(row)
    separator = ',\n'
    if (text.length < 50_000) continue
    yield text
    text = ''
  }
  yield `${separator === '[' ? '[' : text}]`
}

async function* documentOf(ctx: Ctx, user: LoadedUser): AsyncGenerator<string, void> {
  yield `{"exported_at":${JSON.stringify(toIso(ctx.now()))}`
  for (const section of sectionsOf(user)) {
    yield `,\n"${section.name}":`
    yield* arrayOf(rowsOf(ctx, section))
  }
  yield ',\n"campaign_recipients":'
  yield* arrayOf(recipients(ctx, user))
  yield '}\n'
}

/** The document of a customer; the audit entry is written before the first row is sent. */
export const exportUser = (ctx: Ctx, user: LoadedUser) => ({
  name: `user-${user.id}.json`,
  open: async () => {
    await ctx.db.batch(await ctx.settle(null, true))
    return documentOf(ctx, user)
  },
})
