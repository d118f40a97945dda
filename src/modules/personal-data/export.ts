import { and, eq, gt, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { campaigns } from '../../db/schema/messaging/campaigns.ts'
import { select } from '../../db/select.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { LoadedUser } from '../users/index.ts'
import { type ExportSection, listExportSections } from './export-sections.ts'

const rowsPerPage = 500
const campaignsPerPage = 20

type ExportedRow = Record<string, unknown>
type KeyedRow = ExportedRow & { row_key: string }

const selectPage = ({ columns, from, where, key }: ExportSection, after: string) =>
  sql<KeyedRow>`select ${key} as row_key, ${columns} from ${from} where ${where} and ${key} > ${after}
    order by ${key} limit ${rowsPerPage}`

const parseRow = ({ row_key: _, ...row }: KeyedRow): ExportedRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) =>
      name.endsWith('_json')
        ? [name.slice(0, -'_json'.length), typeof value === 'string' ? (JSON.parse(value) as unknown) : null]
        : [name, value],
    ),
  )

async function* readRows(ctx: Ctx, section: ExportSection): AsyncGenerator<ExportedRow> {
  let after = ''
  for (;;) {
    const rows = await ctx.db.all(selectPage(section, after))
    for (const row of rows) yield parseRow(row)
    const last = rows.at(-1)
    if (!last || rows.length < rowsPerPage) return
    after = last.row_key
  }
}

/** Reads the customer from the Durable Objects of campaigns, which know customers by `users.seq`. */
async function* readRecipients(ctx: Ctx, user: LoadedUser): AsyncGenerator<ExportedRow> {
  let after = 0
  for (;;) {
    const startedCampaigns = await ctx.db.all(
      select({ seq: campaigns.seq, id: campaigns.id })
        .from(campaigns)
        .where(and(eq(campaigns.organization_id, user.organization_id), gt(campaigns.run, 0), gt(campaigns.seq, after)))
        .orderBy(campaigns.seq)
        .limit(campaignsPerPage),
    )
    const recipients = await Promise.all(
      startedCampaigns.map(async ({ id }) => ({
        campaign_id: id,
        row: await ctx.senders.get(id).findRecipient(user.seq),
      })),
    )
    for (const { campaign_id, row } of recipients) {
      if (!row) continue
      const { n: _, person, ...stored } = row
      yield { campaign_id, ...stored, person: JSON.parse(person) as unknown }
    }
    const last = startedCampaigns.at(-1)
    if (!last) return
    after = last.seq
  }
}

async function* formatArray(rows: AsyncIterable<ExportedRow>): AsyncGenerator<string> {
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

async function* formatDocument(ctx: Ctx, user: LoadedUser): AsyncGenerator<string, void> {
  yield `{"exported_at":${JSON.stringify(toIso(ctx.now()))}`
  for (const section of listExportSections(user)) {
    yield `,\n"${section.name}":`
    yield* formatArray(readRows(ctx, section))
  }
  yield ',\n"campaign_recipients":'
  yield* formatArray(readRecipients(ctx, user))
  yield '}\n'
}

/** The audit entry is written before the first row is sent. */
export const exportUser = (ctx: Ctx, user: LoadedUser) => ({
  name: `user-${user.id}.json`,
  open: async () => {
    await ctx.db.batch(await ctx.settle(null, true))
    return formatDocument(ctx, user)
  },
})
